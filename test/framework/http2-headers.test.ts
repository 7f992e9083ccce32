// Header blocks over HTTP/2 arrive whole or are rejected, as over HTTP/1.1 (headers.test.ts). Limits are those of the sender
// and of Node's library; no line is lost to them.
import { type Authenticator, createServer } from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { block, END_STREAM, Frames, TYPE } from "../_support/frames.ts";
import { Http2Client } from "../_support/http2.ts";
import { whoami } from "../_support/whoami.ts";

const servers = Authority.root("servers");
const TLS = { ca: servers.cert };

/** Groups as a front proxy sends them: a line for each. */
const byHeader: Authenticator = {
  name: "front proxy",
  authenticate: ({ headersDistinct }) =>
    authenticatedUser({
      name: headersDistinct["x-remote-user"]?.[0] ?? "",
      groups: headersDistinct["x-remote-group"] ?? [],
    }),
};

async function start() {
  const server = createServer({
    virtualWorkspaces: [whoami()],
    authentication: [byHeader],
    tls: servers.issue({ name: "server", usages: [SERVER_AUTH] }),
    log: testLog().log,
  });
  const { port } = await server.listen({ port: 0 });
  return { port, [Symbol.asyncDispose]: () => server.close() };
}

type Line = [string, string];
const HEAD: readonly Line[] = [
  [":method", "GET"],
  [":scheme", "https"],
  [":authority", "x"],
  [":path", "/services/who/"],
  ["x-remote-user", "alice"],
];
const groups = (count: number, length = 0): string[] =>
  Array.from({ length: count }, (_, at) => `group-${at}-${"g".repeat(length)}`);
const lines = (names: readonly string[]): Line[] => names.map((name): Line => ["x-remote-group", name]);

/** The groups that arrived, or how the block was rejected. */
async function arrived(frames: Frames, stream: number): Promise<readonly string[] | "refused"> {
  let text = "";
  for (;;) {
    const frame = await frames.next(({ type, stream: of }) => type === TYPE.goaway || of === stream);
    if (frame === undefined || frame.type === TYPE.goaway || frame.type === TYPE.reset) return "refused";
    if (frame.type === TYPE.data) text += String(frame.payload);
    if ((frame.flags & END_STREAM) !== 0) return JSON.parse(text).groups.slice(0, -1);
  }
}

describe("header blocks over HTTP/2", () => {
  it("may have 256 KiB in one frame, as advertised: 200 KiB, and 2,000 groups, arrive whole", async () => {
    await using server = await start();
    using client = await Http2Client.open(server.port, TLS);
    expect(client.session.remoteSettings).to.include({
      maxHeaderListSize: 2 ** 20,
      maxFrameSize: 256 * 1024,
      maxConcurrentStreams: 100,
    });
    using frames = await Frames.open(server.port, TLS);
    const sets = [groups(1), groups(999), groups(1001), groups(2000), groups(2000, 100), groups(10_000)];
    for (const [at, names] of sets.entries()) {
      const payload = block([...HEAD, ...lines(names)]);
      frames.split(2 * at + 1, { payload, size: 256 * 1024 });
      expect(await arrived(frames, 2 * at + 1)).to.deep.equal(names);
    }
  });

  for (const size of [16 * 1024, 64 * 1024, 256 * 1024]) {
    it(`in frames of ${size / 1024} KiB arrive whole or are rejected`, async function () {
      this.timeout(30_000);
      await using server = await start();
      const outcomes: string[] = [];
      for (const kib of [50, 100, 130, 160, 200, 400, 600, 800, 1000, 1100, 2000]) {
        using frames = await Frames.open(server.port, TLS);
        const names = groups(kib, 1024 - 40);
        frames.split(1, { payload: block([...HEAD, ...lines(names)]), size });
        const found = await arrived(frames, 1);
        if (found !== "refused") expect(found).to.deep.equal(names);
        outcomes.push(`${kib} ${found === "refused" ? found : "whole"}`);
      }
      // Node's library rejects ten frames or more; its limit rejects more than 1 MiB.
      const most = Math.min(9 * (size / 1024), 1000);
      for (const outcome of outcomes) {
        const kib = Number.parseInt(outcome, 10);
        if (kib < 0.9 * most) expect(outcome).to.equal(`${kib} whole`);
        if (kib > 1.1 * most) expect(outcome).to.equal(`${kib} refused`);
      }
    });
  }

  it("with one line above 64 KiB are rejected", async () => {
    await using server = await start();
    for (const length of [60_000, 70_000]) {
      using frames = await Frames.open(server.port, TLS);
      frames.split(1, { payload: block([...HEAD, ...lines(["g".repeat(length)])]), size: 256 * 1024 });
      const found = await arrived(frames, 1);
      expect(found).to.deep.equal(length < 65_536 ? ["g".repeat(length)] : "refused");
    }
  });

  it("keep all bytes, in both directions", async () => {
    await using server = await start();
    using client = await Http2Client.open(server.port, TLS);
    const name = Buffer.from("Zoë 東京 🦆").toString("latin1");
    const { body } = await client.get("/services/who/", {
      "x-remote-user": "alice",
      "x-name": name,
      "x-group": [name, "\xff\x80"],
    });
    expect(body.headers[1]).to.deep.include({ "x-name": [name], "x-group": [name, "\xff\x80"] });
  });

  it("with strong compression are limited by their decoded size, not by what was sent", async () => {
    await using server = await start();
    using frames = await Frames.open(server.port, TLS);
    // One line of 4,000 bytes in the dynamic table, then one byte for each use.
    const remembered = block([["x-remote-group", "g".repeat(3900)]]);
    remembered.writeUInt8(0x40, 0);
    const bomb = (count: number): Buffer => Buffer.concat([block(HEAD), remembered, Buffer.alloc(count, 0x80 | 62)]);
    frames.split(1, { payload: bomb(99), size: 16_384 });
    expect(await arrived(frames, 1)).to.have.length(100);
    const again = (count: number): Buffer => Buffer.concat([block(HEAD), Buffer.alloc(count, 0x80 | 62)]);
    frames.split(3, { payload: again(16_000), size: 16_384 });
    expect(await arrived(frames, 3)).to.equal("refused");
  });
});
