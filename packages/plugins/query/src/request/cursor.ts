import { createHash } from "node:crypto";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import type { SortedPlace } from "../order/ordered-list.ts";
import type { FieldValue, SortKey } from "../order/sort-key.ts";

/** The last object of a page, after which the next one begins. */
export type Cursor = SortedPlace<SortKey>;

/** Version of the format of tokens. */
const FORMAT = 1;

/** Returns the continue token for the objects after a cursor. @param query text of the query, which the next page must repeat */
export function encodeCursor({ key, object }: Cursor, query: string): string {
  const { cluster, namespace, name } = object.key;
  const values = (Array.isArray(key) ? key : [key]) as readonly FieldValue[];
  // JSON has no bigint, and its numbers are not exact beyond 53 bits.
  const plain = values.map((value) => (typeof value === "bigint" ? { n: String(value) } : (value ?? null)));
  return Buffer.from(JSON.stringify([FORMAT, hashOf(query), plain, cluster, namespace, name])).toString("base64url");
}

/** Security: it only tells apart the queries of one client, who can choose its tokens freely. */
function hashOf(query: string): string {
  return createHash("sha256").update(query).digest("base64url").slice(0, 12);
}

/** @throws ApiError 400 on a token of another query, or none of ours */
export function decodeCursor(token: string, query: string, terms: number): Cursor {
  const parts = parsed(token);
  const [format, own, values, cluster, namespace, name] = parts;
  const texts = [cluster, namespace, name].every((text) => typeof text === "string");
  if (format !== FORMAT || !Array.isArray(values) || !texts || values.length !== Math.max(1, terms)) throw invalid();
  if (own !== hashOf(query))
    throw ApiError.badRequest("invalid continue token: it belongs to another query; repeat sortBy, filter and search");
  const keys = values.map(fieldValueOf);
  const object = { key: { cluster, namespace, name } as Encoded["key"] };
  return { key: terms > 1 ? keys : keys[0], object };
}

function parsed(token: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (Array.isArray(parts)) return parts;
  } catch {
    // The same answer as for other values.
  }
  throw invalid();
}

function fieldValueOf(value: unknown): FieldValue {
  if (value === null) return undefined;
  if (typeof value === "string" || typeof value === "number") return value;
  const { n } = value as { readonly n?: unknown };
  if (typeof n === "string" && /^-?\d{1,40}$/.test(n)) return BigInt(n);
  throw invalid();
}

function invalid(): ApiError {
  return ApiError.badRequest("invalid continue token: it is damaged; list again without continue");
}
