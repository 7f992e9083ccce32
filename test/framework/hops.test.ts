// Requests that servers forward to one another: counted, and rejected when there are too many hops.
import { allow, defineVirtualWorkspace, type ServerOptions } from "@virtual-workspaces/framework";
import { HOPS_HEADER } from "@virtual-workspaces/framework/request";
import type { Scope, Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { outcome, startPlain } from "../_support/plain.ts";
import { Wire } from "../_support/wire.ts";

async function start(options: Partial<ServerOptions> = {}) {
  const scopes: Scope[] = [];
  const storage: Storage = {
    get: (scope) => {
      scopes.push(scope);
      return undefined;
    },
  };
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/",
    authorize: () => allow(),
    resources: [Note.serve(storage as never)],
  });
  const server = await startPlain([view], options);
  const path = "/services/notes/apis/test.dev/v1/notes/x";
  return {
    scopes,
    path,
    get: (headers: Record<string, string> = {}) => server.get(path, { headers }),
    server,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe("hops", () => {
  it("are counted by each forwarder: a storage gets their number and the chain", async () => {
    await using view = await start();
    await view.get();
    await view.get({ [HOPS_HEADER]: "3", Via: "1.1 front, HTTP/1.1 proxy:80 (nginx)" });
    expect(view.scopes.map(({ hops, via }) => [hops, via])).to.deep.equal([
      [0, "1.1 notes"],
      [3, "1.1 front, HTTP/1.1 proxy:80 (nginx), 1.1 notes"],
    ]);
  });

  it("are rejected from four on, as in kcp, with the chain and a fix in the message", async () => {
    await using view = await start();
    const answer = await view.get({ [HOPS_HEADER]: "4", via: "1.1 a, 1.1 notes, 1.1 a" });
    expect(outcome(answer)).to.deep.equal([
      500,
      "InternalError",
      "Internal error occurred: the request was forwarded by 4 API servers or more (X-Kcp-Virtual-Resource-Hops): " +
        "a -> notes -> a -> notes. One of them very likely leads back to another: check the URL that each forwards to",
    ]);
    expect(view.scopes).to.deep.equal([]);
  });

  for (const text of ["5", "-1", "+1", "1.0", "0x1", "one", "1, 1", "1e0", "", "99999999999999999999", "٣"])
    it(`are rejected when the header is ${JSON.stringify(text)}`, async () => {
      await using view = await start();
      const { status } = await view.get({ [HOPS_HEADER]: Buffer.from(text).toString("latin1") });
      expect(status).to.equal(500);
    });

  it("are rejected when the header is repeated", async () => {
    await using view = await start();
    using wire = await Wire.open(Number(new URL(view.server.url).port));
    wire.request(
      ...[`GET ${view.path} HTTP/1.1`, "Host: x", "Authorization: Bearer alice"],
      ...[`${HOPS_HEADER}: 0`, `${HOPS_HEADER}: 0`],
    );
    expect((await wire.answer())?.status).to.equal(500);
  });

  it("stay hidden from unauthenticated callers, and count even where nothing is forwarded", async () => {
    await using view = await start();
    const stranger = await view.get({ [HOPS_HEADER]: "4", authorization: "Bearer nobody" });
    expect(stranger.status).to.equal(401);
    const discovery = await view.server.get("/services/notes/apis", { headers: { [HOPS_HEADER]: "4" } });
    expect(discovery.status).to.equal(500);
  });

  it("are checked before impersonation and before the view's rule", async () => {
    const asked: string[] = [];
    const impersonation: ServerOptions["impersonation"] = ({ verb }) => {
      asked.push(verb);
      return allow();
    };
    await using view = await start({ impersonation });
    const { status } = await view.get({ [HOPS_HEADER]: "4", "Impersonate-User": "bob" });
    expect([status, asked]).to.deep.equal([500, []]);
  });

  it("are shown with the end of a long chain, whatever the client sends", async () => {
    await using view = await start();
    const long = Array.from({ length: 500 }, (_, at) => `1.1 server-${at}`).join(", ");
    await view.get({ Via: long });
    const via = view.scopes[0]?.via ?? "";
    expect(via.length).to.be.below(1025);
    expect(via).to.match(/^1\.1 server-\d+, .*1\.1 server-499, 1\.1 notes$/);
    const { body } = await view.get({ [HOPS_HEADER]: "4", Via: "x".repeat(9000) });
    expect(body.message.length).to.be.below(1400);
  });
});
