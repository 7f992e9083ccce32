import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type DeleteQuery,
  managerOf,
  parseWriteOptions,
  type WriteQuery,
  type WriteQueryRules,
} from "@virtual-workspaces/apimachinery/requests";
import { groupResourceOf } from "../definition.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import { authorizeAs } from "../stages/authorize.ts";
import type { RequestOptions, WriteOptions } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { type Part, writesStatus } from "../write/update.ts";
import type { WriteRequest } from "../write/write-request.ts";
import { LateWriteOptions, refuseWildcard, requestOptions, scopeOf } from "./scope.ts";

/** Parses the options of a write. Rejects writes over all logical clusters, except reviews. */
export function writeQuery(
  exchange: AuthorizedExchange,
  { definition }: ServedResource,
  rules: WriteQueryRules,
): WriteQuery {
  if (exchange.review === undefined) refuseWildcard(exchange, definition);
  return parseWriteOptions(exchange.search === "" ? NOTHING : exchange.query, rules);
}

const NOTHING = new URLSearchParams();

/** Options from the client that the writer uses. */
type WriteParameters = Pick<WriteQuery, "dryRun"> & Partial<WriteQuery> & Partial<DeleteQuery>;

/** Returns the write request for the writer. */
export function writeRequest(
  exchange: AuthorizedExchange,
  { admit, storage }: ServedResource,
  query: WriteParameters,
): WriteRequest {
  const isKept = storage.keepsOptions === true && storage.pass === undefined;
  const options = isKept ? new LateWriteOptions(exchange, ownOptions(exchange, query)) : writeOptions(exchange, query);
  return { scope: scopeOf(exchange), options, part: partOf(exchange), admit };
}

/** Returns the options of a write, from the query and the headers. */
export function writeOptions(exchange: AuthorizedExchange, query: WriteParameters): WriteOptions {
  return { ...requestOptions(exchange), ...ownOptions(exchange, query) };
}

function ownOptions(exchange: AuthorizedExchange, query: WriteParameters): Omit<WriteOptions, keyof RequestOptions> {
  const { dryRun, fieldManager = "", fieldValidation = "Warn" } = query;
  return {
    dryRun,
    fieldManager: managerOf(fieldManager, exchange.req.headers["user-agent"]),
    fieldValidation,
    ...(writesStatus(partOf(exchange)) ? { subresource: partOf(exchange) } : {}),
  };
}

function partOf({ info: { subresource }, served }: AuthorizedExchange): Part {
  if (subresource === "status" || subresource === "scale") return subresource;
  return served?.definition.subresources.statusParts?.includes(subresource) === true ? subresource : "";
}

/** Authorizes an apply or update that creates as a create. @throws ApiError 403, 404 */
export function mayCreate(exchange: AuthorizedExchange, { verbs, definition }: ServedResource): void | Promise<void> {
  if (!verbs.includes("create")) throw ApiError.notFound(groupResourceOf(definition), exchange.info.name);
  return authorizeAs(exchange, { ...exchange.info, verb: "create" });
}

/**
 * Authorizes a write for storages that create missing objects. Reads the object only when the caller may not create: the
 * caller may still change it.
 * @throws errors of `mayCreate`
 */
export async function unlessThere(
  exchange: AuthorizedExchange,
  { mayCreate, read }: { readonly mayCreate: () => Awaitable<void>; readonly read: () => Promise<unknown> },
): Promise<void> {
  const { decision } = exchange;
  try {
    await mayCreate();
  } catch (error) {
    if ((await read()) === undefined) throw error;
  } finally {
    exchange.decision = decision; // the decision on the request itself
  }
}
