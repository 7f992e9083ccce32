// Server of quotes in a separate process. A crash loses all its state, except for the given folder. The parent process sends
// the quotes.
import { lmdbStore, persistent } from "@virtual-workspaces/store";
import { startTls, type TestAuthority, type TlsServer } from "../_support/server.ts";
import { Quote, quotesView, versionsOf } from "./support/views.ts";

/** Message of the parent. */
export type Order =
  | { readonly start: { readonly authority: Pick<TestAuthority, "ca" | "server">; readonly port: number } }
  | { readonly set: readonly string[] }
  | { readonly delete: readonly string[] };

/** Answer to each message: URL, and resource versions by key. */
export interface Report {
  readonly port: number;
  readonly versions: readonly (readonly [string, string])[];
}

const [dir] = process.argv.slice(2);
const quotes = dir === undefined ? Quote.collection() : Quote.collection(persistent(await lmdbStore({ dir })));
const root = quotes.in("root");
let server: TlsServer | undefined;

async function obey(order: Order): Promise<void> {
  if ("set" in order) for (const name of order.set) await root.set(name, { text: `${name} of process ${process.pid}` });
  if ("delete" in order) for (const name of order.delete) await root.delete(name);
  if ("start" in order) {
    const { authority, port } = order.start;
    const noClients = (): never => {
      throw new Error("this process issues no certificates");
    };
    server = await startTls([quotesView([Quote.serve(quotes)])], {
      port,
      authority: { ...authority, client: noClients },
    });
  }
  const report: Report = { port: server?.port ?? 0, versions: [...versionsOf(await root.list())] };
  process.send?.(report);
}

process.on("message", (order: Order) => void obey(order));
process.on("disconnect", () => void server?.close());
