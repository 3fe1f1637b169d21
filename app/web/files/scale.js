// Weights to colours: one hue family whose lightness only ever moves away from the paper, so it reads without
// colour vision and in grey. On a dark page it runs the other way.

const LIGHT = ["#f4f2ec", "#d3e3e0", "#93c6cd", "#4d9bbf", "#2a6aa6", "#21407f", "#161f4d"];
const DARK = ["#1b1e28", "#213457", "#27578a", "#2f8098", "#57aa92", "#a9cc78", "#fff2a3"];
const LESS = { light: ["#f4f2ec", "#f0b98d", "#a4480f"], dark: ["#1b1e28", "#8a4a1c", "#ffb37a"] };
const STEPS = 256;

const darkPage = matchMedia("(prefers-color-scheme: dark)");
export const isDark = () => darkPage.matches;
export const onSchemeChange = (listener) => darkPage.addEventListener("change", listener);

const rgb = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));

/** A table of colours between the given ones. */
export function table(stops) {
  const colours = stops.map(rgb);
  return Array.from({ length: STEPS }, (_, index) => {
    const place = (index / (STEPS - 1)) * (colours.length - 1);
    const before = Math.min(Math.floor(place), colours.length - 2);
    return [0, 1, 2].map((channel) => {
      const [from, to] = [colours[before][channel], colours[before + 1][channel]];
      return Math.round(from + (place - before) * (to - from));
    });
  });
}

const TABLES = { light: table(LIGHT), dark: table(DARK) };
const LESS_TABLES = { light: table(LESS.light), dark: table(LESS.dark) };

/** The colour of a share from 0 to 1; below 0, as differences are, another hue. */
export function colour(share, dark = isDark()) {
  const mode = dark ? "dark" : "light";
  const found = share < 0 ? LESS_TABLES[mode] : TABLES[mode];
  return found[Math.min(Math.round(Math.abs(share) * (STEPS - 1)), STEPS - 1)];
}

/** Where black and white stand out equally from a colour of that relative luminance. */
const BETWEEN = 0.179;

/** Black or white, whichever reads better on a colour. */
export function inkOn(rgbColour) {
  const [red, green, blue] = rgbColour.map((channel) => (channel <= 10 ? channel / 3294 : ((channel / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > BETWEEN ? "#000000" : "#ffffff";
}

export const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;
