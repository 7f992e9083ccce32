import { LineCounter, parseDocument, type YAMLParseError } from "yaml";
import { TOO_DEEP, YamlFault } from "./fault.ts";
import { kubernetesTags, YamlTree } from "./value.ts";

/** Parsed YAML document. */
export interface ParsedYaml {
  readonly value: unknown;
  /** Errors of strict decoding: `line 3: key "a" already set in map`. */
  readonly duplicates: readonly string[];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/**
 * Parses one YAML document as Kubernetes does. Security: hostile input takes seconds, so long documents must not be parsed in
 * the main thread.
 *
 * @param maxBytes limit of the value's size as JSON
 * @throws YamlFault
 */
export function parseYaml(text: string, maxBytes: number): ParsedYaml {
  if (CONTROL.test(text)) throw new YamlFault("yaml: control characters are not allowed");
  const { stackTraceLimit } = Error;
  // A document may have an error at every character, and the parser creates an Error for each: stack traces would dominate
  // the cost.
  Error.stackTraceLimit = 0;
  try {
    return read(text, maxBytes);
  } catch (error) {
    // The parser is recursive, so deep nesting overflows its stack.
    throw error instanceof RangeError ? new YamlFault(TOO_DEEP) : error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function read(text: string, maxBytes: number): ParsedYaml {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    version: "1.1",
    customTags: () => [...kubernetesTags],
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter,
  });
  const [error] = document.errors;
  if (error !== undefined) throw faultOf(error, lineCounter);
  const tree = new YamlTree(lineCounter, maxBytes);
  return { value: tree.read(document.contents), duplicates: tree.duplicates };
}

function faultOf({ code, message, pos }: YAMLParseError, lines: LineCounter): YamlFault {
  if (code === "MULTIPLE_DOCS")
    return new YamlFault("yaml: the body has more than one document: send each in its own request");
  if (code === "RESOURCE_EXHAUSTION") return new YamlFault(TOO_DEEP);
  const { line, col } = lines.linePos(pos[0]);
  return new YamlFault(`yaml: line ${line} column ${col}: ${message}`);
}
