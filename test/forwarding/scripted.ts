// Server with scripted answers, and a view that forwards to it.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ForwardOptions } from "@virtual-workspaces/forwarding";
import { credentialed, type Here, type MemoContent, startHere } from "./upstream.ts";

export const memo = (name: string, version: number, text = ""): object => ({
  apiVersion: "test.dev/v1",
  kind: "Memo",
  metadata: { name, namespace: "a", resourceVersion: `${version}`, uid: name },
  spec: { text },
});
export const list = (version: number, ...items: object[]): string =>
  JSON.stringify({ kind: "MemoList", apiVersion: "test.dev/v1", metadata: { resourceVersion: `${version}` }, items });
export const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;

export interface Script {
  /** Answer to lists. @default the memo `x` at version 10 */
  list?: (query: URLSearchParams, req: IncomingMessage, res: ServerResponse) => string | undefined;
  /** Answers to the first, second, … watch; the last one repeats. */
  readonly watches: readonly ((res: ServerResponse, query: URLSearchParams, req: IncomingMessage) => unknown)[];
}

/** Starts a scripted server, and a view over it. */
export async function scripted(
  script: Script,
  options: Partial<ForwardOptions<MemoContent>> = {},
): Promise<{ here: Here; asked: string[] } & AsyncDisposable> {
  const asked: string[] = [];
  let watches = 0;
  const listener: RequestListener = (req: IncomingMessage, res) => {
    const query = new URL(req.url ?? "", "http://x").searchParams;
    asked.push(req.url ?? "");
    res.setHeader("Content-Type", "application/json");
    if (query.get("watch") !== "true") {
      const answer = script.list === undefined ? list(10, memo("x", 10)) : script.list(query, req, res);
      if (answer !== undefined) res.end(answer);
      return;
    }
    const behave = script.watches[Math.min(watches++, script.watches.length - 1)];
    res.flushHeaders();
    void behave?.(res, query, req);
  };
  const raw = createServer(listener);
  await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
  const here = await startHere({
    upstream: credentialed(`http://127.0.0.1:${(raw.address() as AddressInfo).port}`),
    renewEvery: 1_000,
    ...options,
  });
  return {
    here,
    asked,
    [Symbol.asyncDispose]: async () => {
      await here[Symbol.asyncDispose]();
      raw.closeAllConnections();
      await new Promise((resolve) => raw.close(resolve));
    },
  };
}
