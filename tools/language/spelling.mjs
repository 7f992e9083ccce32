// Why: the dictionaries of cspell, word by word, and words.txt. The file reader of cspell does not know our blocks: it would check code too.
import { getDefaultSettings, getDictionary, mergeSettings } from "cspell-lib";
import { BLOCKS, listIn, proseOf } from "./prose.mjs";

/** A word with nothing around it that makes it part of a name, a path, a flag or a number. */
const WORD =
  /(?<![\p{L}\p{N}_./\\@$#&:=%~<{-]|\uFFFC)\p{L}[\p{L}'’]*(?:-\p{L}[\p{L}'’]*)*(?![\p{L}\p{N}_/\\@$=(<>{*~]|-|\.\w|:\w|\uFFFC)/gu;

/** @typedef {(word: string) => boolean} Speller whether it knows a word */

/** @returns {Promise<Speller>} */
export async function loadSpeller() {
  const words = listIn("words.txt");
  const names = [
    "en_us",
    "en-gb-mit",
    "softwareTerms",
    "typescript",
    "node",
    "k8s",
    "networking-terms",
    "companies",
    "public-licenses",
  ];
  const settings = mergeSettings(await getDefaultSettings(true), {
    words,
    dictionaries: names,
    caseSensitive: false,
    allowCompoundWords: false,
  });
  const dictionary = await getDictionary(settings);
  /** @type {Map<string, boolean>} */
  const known = new Map();
  return (word) => {
    let answer = known.get(word);
    if (answer === undefined) {
      answer = dictionary.has(word, { ignoreCase: true });
      known.set(word, answer);
    }
    return answer;
  };
}

/** What differs between British spelling and American. */
const BRITISH = /** @type {const} */ ([
  [/s(e|ed|es|er|ers|ing|ation|ations|able)$/, "z$1"],
  [/our/, "or"],
  [/ence$/, "ense"],
  [/lled$|lling$|lment/, (/** @type {string} */ end) => end.slice(1)],
  [/lment/, "llment"],
  [/tre(s?)$/, "ter$1"],
]);

/** @param {string} word @param {Speller} speller */
function remedy(word, speller) {
  for (const [british, american] of BRITISH) {
    const other = word.replace(british, /** @type {any} */ (american));
    if (other !== word && speller(other)) return `write "${other}" (American spelling, as in Kubernetes)`;
  }
  return "unknown word; correct it, put code in backticks, or add it to tools/language/words.txt";
}

/** @param {any} context @param {{ speller: Speller }} options */
export const spelling = (context, { speller }) => {
  const { RuleError, locator, report, getSource } = context;
  const visit = (/** @type {any} */ node) => {
    const { text, at } = proseOf(node, getSource());
    for (const match of text.matchAll(WORD)) {
      let offset = match.index;
      for (const part of match[0].split("-")) {
        const word = part.replace(/(n['’]+t|['’]+(s|d|ll|re|ve|m)?)$/i, "");
        const plain = word.length > 3 && !/\p{Lu}.*\p{Lu}|\p{Ll}\p{Lu}/u.test(word);
        if (plain && !speller(word)) {
          const padding = locator.range([at[offset] ?? 0, (at[offset + word.length - 1] ?? 0) + 1]);
          report(node, new RuleError(`"${word}": ${remedy(word, speller)}`, { padding }));
        }
        offset += part.length + 1;
      }
    }
  };
  return Object.fromEntries(BLOCKS.map((type) => [type, visit]));
};
