// The access log gets each request when it has ended, a watch also when it starts, and never a credential.
import { once } from "node:events";
import { connect } from "node:net";
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  deny,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { RequestRecord } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { Note } from "../_support/note.ts";

const ROOT = "/services/notes/clusters/root";
const NOTES = `${ROOT}/apis/test.dev/v1/notes`;

/** A server and the records of its access log so far; `told` waits for the next record. */
async function start(onRequest: (record: RequestRecord) => void | Promise<void> = () => undefined) {
  const records: RequestRecord[] = [];
  const waiting: (() => void)[] = [];
  const server: Server = createServer({
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        authorize: ({ params }) => (params.cluster === "root" ? allow() : deny("ask for root")),
        resources: [Note.serve(Note.collection())],
      }),
    ],
    authentication: [staticTokens({ secret: { name: "alice" } })],
    log: testLog().log,
    onRequest: (record) => {
      records.push(record);
      waiting.shift()?.();
      return onRequest(record);
    },
  });
  const { url } = await server.listen({ port: 0 });
  const told = async (count: number): Promise<readonly RequestRecord[]> => {
    while (records.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    return records.splice(0);
  };
  const get = (path: string, headers = { authorization: "Bearer secret" }, signal?: AbortSignal): Promise<Response> =>
    fetch(url + path, { headers: { ...headers, connection: "close" }, ...(signal === undefined ? {} : { signal }) });
  return { server, url, told, get, [Symbol.asyncDispose]: () => server.close() };
}

describe("the access log", () => {
  it("records method, verb, path without the query, user, code and the id in the response", async () => {
    await using server = await start();
    const answer = await server.get(`${NOTES}?limit=5&token=hidden`);
    await answer.text();
    const [record] = await server.told(1);
    expect(record).to.deep.include({ stage: "ResponseComplete", method: "GET", verb: "list", path: NOTES });
    expect(record).to.deep.include({ user: "alice", code: 200, requestId: answer.headers.get("audit-id") });
    expect(record?.duration).to.be.within(0, 5000);
  });

  it("records rejected requests with the fields that are known by then", async () => {
    await using server = await start();
    const seen: unknown[] = [];
    for (const [path, token] of [
      [NOTES, "wrong"],
      [`/services/notes/clusters/other/apis`, "secret"],
      ["/services/none", "secret"],
      ["/services/notes/clusters/root/%00", "secret"],
      ["/readyz", "secret"],
    ] as const) {
      await (await server.get(path, { authorization: `Bearer ${token}` })).text();
      const [record] = await server.told(1);
      seen.push([record?.verb, record?.user, record?.code]);
    }
    expect(seen).to.deep.equal([
      ["list", undefined, 401],
      ["get", "alice", 403],
      ["", "alice", 404],
      ["", undefined, 400],
      ["", undefined, 200],
    ]);
  });

  it("records a watch when it starts and when the client or the server ends it", async () => {
    await using server = await start();
    const leave = new AbortController();
    await server.get(`${NOTES}?watch=true`, undefined, leave.signal);
    expect(stages(await server.told(1))).to.deep.equal(["watch ResponseStarted 200"]);
    leave.abort();
    expect(stages(await server.told(1))).to.deep.equal(["watch ResponseComplete 200"]);

    const answer = await server.get(`${NOTES}?watch=true`);
    await server.told(1);
    await server.server.close();
    await answer.text();
    expect(stages(await server.told(1))).to.deep.equal(["watch ResponseComplete 200"]);
  });

  it("records a rejected watch and a rejected upgrade once", async () => {
    await using server = await start();
    await (await server.get(`${NOTES}?watch=true&resourceVersion=x`)).text();
    expect(stages(await server.told(1))).to.deep.equal(["watch ResponseComplete 400"]);

    const client = connect(Number(new URL(server.url).port), "127.0.0.1");
    const head = ["Host: x", "Connection: Upgrade", "Upgrade: x", "Authorization: Bearer secret"].join("\r\n");
    client.end(`GET ${ROOT}/x HTTP/1.1\r\n${head}\r\n\r\n`);
    client.resume();
    await once(client, "close");
    const records = await server.told(1);
    expect(records.map(({ stage }) => stage)).to.deep.equal(["ResponseComplete"]);
  });

  for (const [how, hook] of [
    [
      "throws",
      () => {
        throw new Error("disk full");
      },
    ],
    ["rejects", () => Promise.reject(new Error("disk full"))],
  ] as const)
    it(`survives a hook that ${how}, and logs its failure`, async () => {
      await using server = await start(hook);
      expect((await server.get("/livez")).status).to.equal(200);
      await server.told(1);
      expect((await server.get("/livez")).status).to.equal(200);
      await server.told(1);
      expectFault(/logged error: onRequest failed.*disk full/);
    });
});

function stages(records: readonly RequestRecord[]): string[] {
  return records.map(({ stage, verb, code }) => `${verb} ${stage} ${code}`);
}
