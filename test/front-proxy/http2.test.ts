// One HTTP/2 connection to the front proxy, on which a client lists, watches and writes in workspaces of two shards.
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { Http2Client } from "../_support/http2.ts";
import { CONFIG_MAPS, Stores, WORKSPACES } from "../workspace-server/shards/support.ts";
import { type Front, SERVER, type Shards, startFront, startShards } from "./support.ts";

const headers = { authorization: "Bearer admin", "content-type": "application/json" };
const map = (name: string, said = "") =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { text: said } });

describe("a front proxy over HTTP/2", function () {
  this.timeout(60_000);
  let stores: Stores;
  let shards: Shards;
  let front: Front;

  before(async () => {
    stores = new Stores();
    shards = await startShards(stores);
    front = await startFront(shards.url, { tls: SERVER });
    using client = await open();
    for (const [name, shard] of [
      ["here", "root"],
      ["there", "shard-1"],
    ]) {
      const location = { selector: { matchLabels: { name: shard } } };
      const spec = { type: { name: "universal", path: "root" }, location };
      const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
      const path = `/clusters/root${WORKSPACES}`;
      expect((await client.ask({ method: "POST", path, headers, body: JSON.stringify(workspace) })).status).to.equal(
        201,
      );
      while ((await client.get(`/clusters/root:${name}/api`, headers)).status !== 200);
    }
  });

  after(async () => {
    await front?.[Symbol.asyncDispose]();
    await shards?.[Symbol.asyncDispose]();
    await stores?.[Symbol.asyncDispose]();
  });

  const open = (): Promise<Http2Client> =>
    Http2Client.open(Number(new URL(front.url).port), { rejectUnauthorized: false });
  const at = (workspace: string, rest = ""): string => `/clusters/root:${workspace}${CONFIG_MAPS}${rest}`;

  it("answers a hundred concurrent requests on one connection correctly", async () => {
    using client = await open();
    const made = await Promise.all(
      Array.from({ length: 100 }, (_, n) => {
        const path = at(n % 2 === 0 ? "here" : "there");
        return client.ask({ method: "POST", path, headers, body: map(`m${n}`, String(n)) });
      }),
    );
    expect(made.map(({ status }) => status)).to.deep.equal(made.map(() => 201));
    const read = await Promise.all(
      made.map((_, n) => client.get(at(n % 2 === 0 ? "here" : "there", `/m${n}`), headers)),
    );
    expect(read.map(({ body }) => body.data.text)).to.deep.equal(read.map((_, n) => String(n)));
    const wrong = await Promise.all(
      made.map((_, n) => client.get(at(n % 2 === 0 ? "there" : "here", `/m${n}`), headers)),
    );
    for (const { status, body } of wrong) expect([status, body.reason]).to.deep.equal([404, "NotFound"]);
    const nowhere = await client.get(at("nowhere"), headers);
    expect([nowhere.status, nowhere.body.kind, nowhere.body.reason]).to.deep.equal([403, "Status", "Forbidden"]);
    const stranger = await client.get(at("here"), { authorization: "Bearer nobody" });
    expect([stranger.status, stranger.body.kind]).to.deep.equal([401, "Status"]);
  });

  it("accepts and returns a body of 900 KiB, and rejects one that is too large with a Status", async () => {
    using client = await open();
    const long = "x".repeat(900 * 1024);
    const made = await client.ask({ method: "POST", path: at("there"), headers, body: map("large", long) });
    expect(made.status).to.equal(201);
    expect((await client.get(at("there", "/large"), headers)).body.data.text === long).to.equal(true);
    const huge = await client.ask({
      method: "POST",
      path: at("there"),
      headers,
      body: map("huge", "x".repeat(4 * 2 ** 20)),
    });
    expect([huge.status, huge.body.reason]).to.deep.equal([413, "RequestEntityTooLarge"]);
  });

  it("streams watches beside other requests, and ends only the one that is cancelled", async () => {
    using client = await open();
    const watches = ["here", "there"].map((workspace) =>
      client.begin({ path: `${at(workspace)}?watch=1&resourceVersion=0`, headers }),
    );
    const texts = ["", ""];
    for (const [n, watch] of watches.entries())
      watch.setEncoding("utf8").on("data", (piece: string) => (texts[n] += piece));
    const shows = async (n: number, name: string): Promise<void> => {
      while (!texts[n]?.includes(`"name":"${name}"`)) await once(watches[n] as NodeJS.EventEmitter, "data");
    };
    const add = (workspace: string, name: string) =>
      client.ask({ method: "POST", path: at(workspace), headers, body: map(name) });
    await Promise.all([add("here", "seen"), add("there", "seen")]);
    await Promise.all([shows(0, "seen"), shows(1, "seen")]);
    watches[0]?.close();
    await add("there", "later");
    await shows(1, "later");
    expect((await client.get(at("here", "/seen"), headers)).status).to.equal(200);
    watches[1]?.close();
  });

  it("ends watches cleanly when it closes, and sends GOAWAY", async () => {
    const own = await startFront(shards.url, { tls: SERVER });
    await using _own = own;
    using client = await Http2Client.open(Number(new URL(own.url).port), { rejectUnauthorized: false });
    while ((await client.get(at("there"), headers)).status !== 200);
    const watch = client.begin({ path: `${at("there")}?watch=1&resourceVersion=0`, headers });
    const whole = text(watch);
    const [{ ":status": status }] = await once(watch, "response");
    await own.proxy.close();
    const lines = (await whole).trimEnd().split("\n");
    expect([status, watch.rstCode]).to.deep.equal([200, 0]);
    for (const line of lines) expect(JSON.parse(line)).to.have.property("type");
    await client.closed;
    expect(client.goaways)
      .to.deep.equal(client.goaways.map(() => 0))
      .and.not.to.deep.equal([]);
  });
});
