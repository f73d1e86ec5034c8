// Search: ranks, links, chunks and steps by what they are called.

/** What a text names in a file, as a change of what is shown; null if nothing. */
export function search(file, text) {
  const { machine, collective } = file;
  const words = text.trim().replace(/^(rank|link|chunk|step)\s+/i, "");
  const kind = /^(rank|link|chunk|step)\s/i.exec(text.trim())?.[1].toLowerCase();
  const step = /^#?(\d+)$/.exec(words);
  if ((kind === "step" || words.startsWith("#")) && step) {
    const number = Number(step[1]);
    return number >= 1 && number <= file.steps ? { step: number, mode: "step" } : null;
  }
  const named = (text) => {
    const chunk = file.type === "schedule" && collective.parse(text);
    return chunk || chunk === 0 ? { chunk: collective.label(chunk).replace(">", "-"), tab: "chunk" } : null;
  };
  if (kind === "chunk" || (!kind && words.includes(">"))) return named(words);
  const rank = kind === "link" ? null : machine.parseRank(words);
  if (rank !== null) return { rank: `${rank}`, link: "", tab: "rank" };
  return link(machine, words) ?? (kind ? null : named(words));
}

/** `2,3`, `2-3`, `2 3` or `2.0.0,3.0.0`. */
function link(machine, words) {
  const ends = words.split(/\s*[,\s→-]\s*/);
  if (ends.length !== 2) return null;
  const [from, to] = ends.map((end) => machine.parseRank(end));
  if (from === null || to === null || !machine.between(from, to).length) return null;
  return { link: `${from}-${to}`, rank: "", tab: "links" };
}
