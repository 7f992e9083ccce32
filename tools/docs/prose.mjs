// Why: what changes the links of a page must leave its listings alone.

/** A fenced block, or code within a line. */
const CODE = /^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2[^\n]*$|(`+)(?!`)(?:(?!\n\n)[\s\S])*?[^`]\3(?!`)/gm;

/** Changes what is not code. @param {string} markdown @param {(text: string) => string} change */
export function mapProse(markdown, change) {
  let changed = "";
  let from = 0;
  for (const { index, 0: code } of markdown.matchAll(CODE)) {
    changed += change(markdown.slice(from, index)) + code;
    from = index + code.length;
  }
  return changed + change(markdown.slice(from));
}

/** Changes the target of each link and image, `[text](target)` and `[name]: target`. @param {string} markdown @param {(target: string) => string} change */
export function mapLinks(markdown, change) {
  return mapProse(markdown, (text) =>
    text.replace(/(?<=\]\()[^()\s]+(?=\))/g, change).replace(/(?<=^\[[^\]\n]+\]: +)\S+$/gm, change),
  );
}
