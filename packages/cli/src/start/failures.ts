import { isStoreError } from "@virtual-workspaces/store";
import { Failure } from "../usage.ts";
import type { Place } from "./place.ts";

/** What is thrown by it says all that there is to say: no stack. Stores, files and keys do. */
export async function told<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error ? new Failure(error.message, { cause: error }) : error;
  }
}

/** What keeps a server from listening or starting. */
export function startFailure(error: unknown, { bindAddress, port }: Pick<Place, "bindAddress" | "port">): unknown {
  const { code, message } = error as { readonly code?: unknown; readonly message?: string };
  const address = `${bindAddress}:${port}`;
  if (code === "EADDRINUSE")
    return new Failure(`${address} is taken: stop who has it, or name another port with --secure-port`);
  if (code === "EACCES")
    return new Failure(`this user may not listen at ${address}: name a port above 1023 with --secure-port`);
  if (code === "EADDRNOTAVAIL")
    return new Failure(
      `${bindAddress} is no address of this machine: name one with --bind-address, or 0.0.0.0 for all`,
    );
  if (isStoreError(error)) return new Failure(error.message);
  // An answer of the store, as clients would get it; its own words say more.
  const { cause } = error as { readonly cause?: unknown };
  if (isStoreError(cause)) return new Failure(cause.message);
  return message === undefined || !("status" in (error as object)) ? error : new Failure(message);
}
