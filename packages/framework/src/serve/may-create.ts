import { ApiError } from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import { authorizeAs } from "../stages/authorize.ts";
import type { Awaitable } from "../storage.ts";

/** An apply or an update that creates is a create, and must be allowed as one. @throws ApiError 403, 404 */
export function mayCreate(exchange: Exchange, { verbs, definition }: ServedResource): void | Promise<void> {
  if (!verbs.includes("create")) throw ApiError.notFound(groupResourceOf(definition), exchange.info.name);
  return authorizeAs(exchange, { ...exchange.info, verb: "create" });
}

/**
 * For storages that create by themselves what is not there. Who may not create may still change what is there: only then
 * is it looked for. @throws what `mayCreate` throws
 */
export async function unlessThere(
  exchange: Exchange,
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
