/**
 * JSON as Kubernetes reads and writes it: exact numbers, bounded depth, no prototypes.
 *
 * @module
 */

export { MAX_JSON_DEPTH, type ParsedJson, parseJson, parseOwnJson, stringifyJson } from "../json/parse.ts";
export type { JsonLimits } from "../json/scan.ts";
export { cloneJson, compareUtf8, equalJson, memberOf, setMember } from "../json/value.ts";
