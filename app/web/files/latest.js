// Answers of which only the last one asked for is wanted.

/** `ask` runs work that can be aborted; who asks again, or stops, gives up what was under way: its answer is null. */
export function onlyLatest() {
  let underway = new AbortController();

  function stop() {
    underway.abort();
    underway = new AbortController();
  }

  async function ask(work) {
    stop();
    const { signal } = underway;
    try {
      const answer = await work(signal);
      return signal.aborted ? null : answer;
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }

  return { ask, stop };
}
