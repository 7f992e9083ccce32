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
import type { WriteOptions } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { Part } from "../write/update.ts";
import type { WriteRequest } from "../write/write-request.ts";
import { refuseWildcard, requestOptions, scopeOf } from "./scope.ts";

/** Reads the options of a write. Only objects of one logical cluster can be written; reviews are none. */
export function writeQuery(
  exchange: AuthorizedExchange,
  { definition }: ServedResource,
  rules: WriteQueryRules,
): WriteQuery {
  if (exchange.review === undefined) refuseWildcard(exchange, definition);
  return parseWriteOptions(exchange.search === "" ? NOTHING : exchange.query, rules);
}

const NOTHING = new URLSearchParams();

/** What the writer goes by of what a client asks for. */
type Asked = Pick<WriteQuery, "dryRun"> & Partial<WriteQuery> & Partial<DeleteQuery>;

/** What a request comes to for the writer. */
export function writeRequest(exchange: AuthorizedExchange, { admit }: ServedResource, query: Asked): WriteRequest {
  return { scope: scopeOf(exchange), options: writeOptions(exchange, query), part: partOf(exchange), admit };
}

/** What a request says of how it writes. */
export function writeOptions(exchange: AuthorizedExchange, query: Asked): WriteOptions {
  const { dryRun, fieldManager = "", fieldValidation = "Warn" } = query;
  return {
    ...requestOptions(exchange),
    dryRun,
    fieldManager: managerOf(fieldManager, exchange.req.headers["user-agent"]),
    fieldValidation,
    ...(partOf(exchange) === "status" ? { subresource: "status" } : {}),
  };
}

function partOf({ info: { subresource } }: AuthorizedExchange): Part {
  return subresource === "status" || subresource === "scale" ? subresource : "";
}

/** An apply or an update that creates is a create, and must be allowed as one. @throws ApiError 403, 404 */
export function mayCreate(exchange: AuthorizedExchange, { verbs, definition }: ServedResource): void | Promise<void> {
  if (!verbs.includes("create")) throw ApiError.notFound(groupResourceOf(definition), exchange.info.name);
  return authorizeAs(exchange, { ...exchange.info, verb: "create" });
}

/**
 * For storages that create by themselves what is not there. Who may not create may still change what is there: only then
 * is it looked for. @throws what `mayCreate` throws
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
    exchange.decision = decision; // of what was asked for
  }
}
