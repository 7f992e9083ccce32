// Header blocks over HTTP/2: whole or refused, as over HTTP/1.1 (headers.test.ts). What limits there are is the sender's
// and Node's library's; a line is never lost to them.
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

/** Groups as a front proxy hands them over: a line for each. */
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

/** The groups that arrived, or how the block was refused. */
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
  it("may be 256 KiB in one frame, as clients are told: 200 KiB, and 2,000 groups, arrive whole", async () => {
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
    it(`in frames of ${size / 1024} KiB arrive whole or are refused`, async function () {
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
      // What is in ten frames or more is refused by Node's library, what is above 1 MiB by its limit.
      const most = Math.min(9 * (size / 1024), 1000);
      for (const outcome of outcomes) {
        const kib = Number.parseInt(outcome, 10);
        if (kib < 0.9 * most) expect(outcome).to.equal(`${kib} whole`);
        if (kib > 1.1 * most) expect(outcome).to.equal(`${kib} refused`);
      }
    });
  }

  it("of one line above 64 KiB are refused", async () => {
    await using server = await start();
    for (const length of [60_000, 70_000]) {
      using frames = await Frames.open(server.port, TLS);
      frames.split(1, { payload: block([...HEAD, ...lines(["g".repeat(length)])]), size: 256 * 1024 });
      const found = await arrived(frames, 1);
      expect(found).to.deep.equal(length < 65_536 ? ["g".repeat(length)] : "refused");
    }
  });

  it("keep the bytes of any text, to and fro", async () => {
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

  it("compressed to little arrive whole or are refused by what they are, not by what was sent", async () => {
    await using server = await start();
    using frames = await Frames.open(server.port, TLS);
    // One line of 4,000 bytes that is remembered, and then named by one byte each time.
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
