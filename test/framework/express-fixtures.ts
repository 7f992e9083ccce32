// A middleware with two views in a server of another application, and requests to it.
import { once } from "node:events";
import { createServer as createHttp, type Server as HttpServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { allow, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import type { CoreOptions, VirtualWorkspacesMiddleware } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Note } from "../_support/note.ts";
import { Wire, type WireAnswer } from "../_support/wire.ts";

export const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
export const GOOD = ["Host: x", "Authorization: Bearer token"];
export const UPGRADE = ["Connection: Upgrade", "Upgrade: test"];
export const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n";

export function options(notes = Note.collection()): CoreOptions {
  notes.in("root").set("a", {});
  return {
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        authorize: () => allow(),
        resources: [Note.serve(notes, { verbs: ["get", "list", "watch"] })],
      }),
      defineVirtualWorkspace({
        name: "echo",
        path: "/",
        authorize: () => allow(),
        upgrade: (_req, socket, { head }) => void socket.pipe(socket).write(SWITCHED + head.toString()),
      }),
    ],
    authentication: [staticTokens({ token: { name: "alice" } })],
    log: testLog().log,
  };
}

/** Another server with `listener`, and the middleware's upgrade handler. */
export async function startOwn(
  middleware: VirtualWorkspacesMiddleware,
  listener: RequestListener,
  { maxHeadersCount }: Partial<Pick<HttpServer, "maxHeadersCount">> = {},
) {
  await middleware.started;
  const server = createHttp(listener);
  if (maxHeadersCount !== undefined) server.maxHeadersCount = maxHeadersCount;
  server.on("upgrade", (req, socket, head) => {
    if (!middleware.upgrade(req, socket, head))
      socket.end("HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\n\r\n");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ask: (method: string, target: string, lines?: readonly string[]) => ask(port, `${method} ${target}`, lines),
    async [Symbol.asyncDispose]() {
      await middleware[Symbol.asyncDispose]();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

export async function ask(port: number, request: string, lines: readonly string[] = GOOD): Promise<WireAnswer> {
  using wire = await Wire.open(port);
  wire.request(`${request} HTTP/1.1`, ...lines);
  return (await wire.answer(request.split(" ")[0])) as WireAnswer;
}

export function statusOf({ status, body }: WireAnswer): Record<string, unknown> {
  const parsed = JSON.parse(body);
  expect(parsed).to.include({ kind: "Status", apiVersion: "v1", status: "Failure", code: status });
  return parsed;
}
