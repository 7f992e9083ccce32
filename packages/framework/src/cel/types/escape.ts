const KEYWORDS = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace return var void " +
    "while"
  ).split(" "),
);
const SIGNS: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};
const WORDS: Readonly<Record<string, string>> = { underscores: "__", dot: ".", dash: "-", slash: "/" };

/** The name of a property in CEL (`x-y` is `x__dash__y`), or undefined if rules cannot name it. */
export function escapeName(name: string): string | undefined {
  if (KEYWORDS.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[./-]/g, (sign) => SIGNS[sign] ?? sign);
}

/** The property that a name in CEL means, or undefined if it means none. */
export function unescapeName(escaped: string): string | undefined {
  let known = true;
  const name = escaped.replace(/__[^_]+__/g, (sequence) => {
    const word = sequence.slice(2, -2);
    if (Object.hasOwn(WORDS, word)) return WORDS[word] ?? "";
    known &&= KEYWORDS.has(word) && sequence.length === escaped.length;
    return word;
  });
  return known ? name : undefined;
}
