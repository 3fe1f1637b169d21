// Weights as the server writes them, to numbers.

const BIT = 1 / 1024;

/** Half-precision numbers from their bits. Browsers have had one of their own only since 2025. */
export function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = (bits & 0x3ff) * BIT;
  if (exponent === 0) return sign * 2 ** -14 * fraction;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 15) * (1 + fraction);
}

let halves;
function halfTable() {
  halves ??= Float32Array.from({ length: 0x10000 }, (_, bits) => halfToNumber(bits));
  return halves;
}

function bytesOf(data) {
  const text = atob(data);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

function fromBytes(bytes, dtype) {
  if (dtype === "uint8_sqrt") return Float32Array.from(bytes, (byte) => (byte / 255) ** 2);
  const view = new DataView(bytes.buffer);
  if (dtype === "float32") {
    return Float32Array.from({ length: bytes.length / 4 }, (_, index) => view.getFloat32(4 * index, true));
  }
  const table = halfTable();
  return Float32Array.from({ length: bytes.length / 2 }, (_, index) => table[view.getUint16(2 * index, true)]);
}

/** Numbers as they were written: base64, or nested lists of `depth` axes, in which null stands for a row of `columns` that has none. */
function numbersOf(data, { encoding, dtype }, depth, columns = 0) {
  if (encoding === "base64") return fromBytes(bytesOf(data), dtype);
  const rows = depth > 3 ? data.flat(2).map((row) => row ?? Array(columns).fill(NaN)) : data.flat(1);
  return Float32Array.from(rows.flat());
}

/** One family: its weights in one array, [layer][head][query][key]. */
export function decodeMap(map) {
  const { shape, layers, heads } = map;
  return { shape, layers, heads, data: numbersOf(map.data, map, 4, shape[3]) };
}

/** What lay on keys that were dropped, [layer][head][query]; null where none were. */
export const decodeHidden = (map) => (map.hidden_mass == null ? null : numbersOf(map.hidden_mass, map, 3));
