// Long work shows its progress on a terminal, and nowhere else. The server holds its responses until the screen was read.

import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { cli } from "./support/dev.ts";
import { HAS_PTY, Pty } from "./support/pty.ts";

const LINE = /^reading discovery \(\d+ s\)$/m;

describe("progress of long work", function () {
  this.timeout(60_000);
  let server: Server;
  let url: string;
  let isHeld = true;
  const held: ServerResponse[] = [];

  before(async function () {
    if (!HAS_PTY) this.skip();
    server = createServer((_, response) => void (isHeld ? held.push(response) : response.writeHead(404).end()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    isHeld = true;
  });
  after(() => server?.[Symbol.asyncDispose]());

  function release(): void {
    isHeld = false;
    for (const response of held.splice(0)) response.writeHead(404).end();
  }

  const terminal = (...flags: readonly string[]): Pty =>
    new Pty({
      rows: 100,
      command: [
        `"${localNode}" --conditions=@virtual-workspaces/source`,
        join(root, "packages/cli/src/bin.ts"),
        ...["conformance", url, ...flags],
      ].join(" "),
    });

  it("is one line of a terminal, removed before the result is printed", async () => {
    await using pty = terminal();
    expect(await pty.shows(LINE)).to.match(LINE);
    await pty.shows(/^reading discovery \([1-9] s\)$/m);
    release();
    await pty.ended();
    expect(pty.screen).not.to.match(LINE);
  });

  it("is not printed with --quiet", async () => {
    await using pty = terminal("--quiet");
    await once(server, "request");
    release();
    await pty.ended();
    expect(pty.raw).not.to.include("reading discovery");
  });

  it("is not printed without a terminal", async () => {
    release();
    expect((await cli("conformance", url)).stderr).not.to.include("reading discovery");
  });
});
