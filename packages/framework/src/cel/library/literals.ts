import { LITERAL_FUNCTIONS, OPTIONAL_FIELD } from "../functions/patches.ts";

/** Source without literals of objects, which the library cannot parse. */
export interface WithoutLiterals {
  readonly source: string;
  /** Returns the place in the original for one in the source. */
  readonly original: (at: number) => number;
}

/** Strings and comments, whose content is no code; names; quoted names of fields; any other character. */
const TOKEN =
  /(?:[rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?'''))|(?:[rR](?:"[^"\n]*"|'[^'\n]*'))|(?:[bB]?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))|\/\/[^\n]*|`[^`\n]*`|[A-Za-z_][A-Za-z0-9_]*(?:\s*\.\s*[A-Za-z_][A-Za-z0-9_]*)*|\s+|[\s\S]/g;

const TYPE = /^(?:JSONPatch|Object(?:\s*\.\s*[A-Za-z_][A-Za-z0-9_]*)*)$/;

interface Open {
  /** Whether the braces are those of a literal, so that names before colons are fields. */
  readonly isLiteral: boolean;
  /** Bracket that closes it. */
  readonly close: string;
  /** Whether the next token begins an entry. */
  atEntry: boolean;
}

const CLOSING: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };

/** Replaces the literals of `Object` and `JSONPatch` by calls of functions. */
export function withoutLiterals(source: string): WithoutLiterals {
  const tokens = [...source.matchAll(TOKEN)].map(({ 0: text, index }) => ({ text, index }));
  const places: [made: number, original: number][] = [[0, 0]];
  const open: Open[] = [];
  let made = "";
  const add = (text: string, original: number): void => {
    places.push([made.length, original]);
    made += text;
  };
  for (let at = 0; at < tokens.length; at++) {
    const { text, index } = tokens[at] as { text: string; index: number };
    const top = open.at(-1);
    if (/^(?:\s|\/\/)/.test(text)) {
      add(text, index);
      continue;
    }
    const brace = followed(tokens, at, "{");
    if (TYPE.test(text) && brace !== undefined) {
      add(callOf(text.replace(/\s/g, "")), index);
      open.push({ isLiteral: true, close: "}", atEntry: true });
      if (top !== undefined) top.atEntry = false;
      at = brace;
      continue;
    }
    if (top?.isLiteral === true && top.atEntry) {
      const isOptional = text === OPTIONAL_FIELD;
      const name = isOptional ? next(tokens, at) : at;
      const field = name === undefined ? undefined : tokens[name]?.text;
      if (name !== undefined && field !== undefined && /^[A-Za-z_`]/.test(field)) {
        top.atEntry = false;
        add(JSON.stringify((isOptional ? OPTIONAL_FIELD : "") + field.replaceAll("`", "")), index);
        at = name;
        continue;
      }
    }
    const closing = CLOSING[text];
    if (closing !== undefined) open.push({ isLiteral: false, close: closing, atEntry: false });
    if (top !== undefined && text === top.close) {
      open.pop();
      add(top.isLiteral ? "})" : text, index);
      continue;
    }
    if (top !== undefined && text === ",") top.atEntry = true;
    add(text, index);
  }
  return {
    source: made,
    original: (at) => {
      const [from, original] = places.findLast(([start]) => start <= at) ?? [0, 0];
      const length = (places.find(([start]) => start > from)?.[0] ?? made.length) - from;
      return original + Math.min(at - from, Math.max(0, length - 1));
    },
  };
}

/** Returns the place of the next token that is no space, if it is this one. */
function followed(tokens: readonly { readonly text: string }[], at: number, text: string): number | undefined {
  const found = next(tokens, at);
  return found !== undefined && tokens[found]?.text === text ? found : undefined;
}

function next(tokens: readonly { readonly text: string }[], at: number): number | undefined {
  const found = tokens.findIndex(({ text }, place) => place > at && !/^(?:\s|\/\/)/.test(text));
  return found === -1 ? undefined : found;
}

function callOf(type: string): string {
  if (type === "JSONPatch") return `${LITERAL_FUNCTIONS.patch}({`;
  return type === "Object" ? `${LITERAL_FUNCTIONS.root}({` : `${LITERAL_FUNCTIONS.part}("${type}",{`;
}
