// Options of calls that send a patch, by patch type.
import type { CallOptions } from "./plain.ts";

const patch = (type: string): CallOptions => ({ headers: { "content-type": `application/${type}` } });

export const MERGE: CallOptions = patch("merge-patch+json");
export const JSON_PATCH: CallOptions = patch("json-patch+json");
export const APPLY: CallOptions = patch("apply-patch+yaml");
