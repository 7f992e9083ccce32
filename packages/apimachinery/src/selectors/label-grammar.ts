import { ApiError } from "../meta/api-error.ts";
import { fieldInvalid, formatCause, formatCauses } from "../meta/field-cause.ts";
import { labelKeyProblems } from "../meta/names.ts";
import { type LabelOperator, LabelRequirement, requirementProblems } from "./label-requirement.ts";

/** Text of a token; "" at the end of the input. */
type Token = string;

const TOKEN = /==|!=|[=!(),<>]|[^=!(),<> \t\r\n]+/g;
const SYMBOL = /^[=!(),<>]/;
const BINARY: ReadonlyMap<Token, LabelOperator> = new Map<Token, LabelOperator>([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "="],
  ["!=", "!="],
  [">", ">"],
  ["<", "<"],
]);

/** Parses the requirements of a selector by recursive descent over tokens. Errors are those of Kubernetes' labels.Parse. */
export function parseLabelRequirements(text: string): LabelRequirement[] {
  const tokens = new Tokens(text.match(TOKEN) ?? []);
  const requirements: LabelRequirement[] = [];
  if (tokens.peek() === "") return requirements;
  for (;;) {
    requirements.push(parseRequirement(tokens));
    const separator = tokens.next();
    if (separator === "") return requirements;
    if (separator !== ",") throw unexpected(separator, "',' or 'end of string'");
    if (!startsRequirement(tokens.peek())) throw unexpected(tokens.peek(), "identifier after ','");
  }
}

class Tokens {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  peek(): Token {
    return this.#tokens[this.#position] ?? "";
  }

  next(): Token {
    const token = this.peek();
    this.#position++;
    return token;
  }
}

function parseRequirement(tokens: Tokens): LabelRequirement {
  if (!startsRequirement(tokens.peek())) throw unexpected(tokens.peek(), "!, identifier, or 'end of string'");
  const negated = tokens.peek() === "!";
  if (negated) tokens.next();
  const key = parseKey(tokens);
  if (negated) return requirement(key, "!", []);
  if (tokens.peek() === "" || tokens.peek() === ",") return requirement(key, "exists", []);
  const operator = BINARY.get(tokens.peek());
  if (operator === undefined) throw unparsable(found(tokens.peek(), "in, notin, =, ==, !=, gt, lt"));
  tokens.next();
  const isSet = operator === "in" || operator === "notin";
  return requirement(key, operator, isSet ? parseValues(tokens) : [parseExactValue(tokens)]);
}

function parseKey(tokens: Tokens): string {
  const key = tokens.next();
  if (!isWord(key)) throw unparsable(found(key, "identifier"));
  const problems = labelKeyProblems(key);
  // Kubernetes has no field path here and prints a nil one.
  if (problems.length > 0) throw unparsable(formatCause(fieldInvalid("<nil>", key, problems.join("; "))));
  return key;
}

/** Parses `(a,b)`. Values may be empty: `()`, `(,a)` and `(a,)` contain an empty one. */
function parseValues(tokens: Tokens): string[] {
  const open = tokens.next();
  if (open !== "(") throw unparsable(`found '${open}' expected: '('`);
  if (tokens.peek() !== ")" && tokens.peek() !== "," && !isWord(tokens.peek())) {
    throw unparsable(found(tokens.peek(), "',', ')' or identifier"));
  }
  const values: string[] = [];
  for (;;) {
    const word = isWord(tokens.peek());
    values.push(word ? tokens.next() : "");
    if (tokens.peek() !== ")" && tokens.peek() !== ",") {
      throw unparsable(found(tokens.peek(), word ? "',' or ')'" : "',', or identifier"));
    }
    if (tokens.next() === ")") return values;
  }
}

function parseExactValue(tokens: Tokens): string {
  if (tokens.peek() === "" || tokens.peek() === ",") return "";
  const value = tokens.next();
  if (!isWord(value)) throw unparsable(found(value, "identifier"));
  return value;
}

function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const sorted = [...new Set(values)].sort(); // Messages count in this order.
  const problems = requirementProblems(key, operator, sorted);
  if (problems.length > 0) throw unparsable(formatCauses(problems));
  return new LabelRequirement(key, operator, sorted);
}

function startsRequirement(token: Token): boolean {
  return token === "!" || isWord(token);
}

function isWord(token: Token): boolean {
  return token !== "" && !SYMBOL.test(token);
}

function found(token: Token, expected: string): string {
  return `found '${token}', expected: ${expected}`;
}

function unexpected(token: Token, expected: string): ApiError {
  return ApiError.badRequest(found(token, expected));
}

function unparsable(problem: string): ApiError {
  return ApiError.badRequest(`unable to parse requirement: ${problem}`);
}
