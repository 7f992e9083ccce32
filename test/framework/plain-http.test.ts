// Warning of a server that accepts bearer tokens over plain HTTP, to which kubectl never sends them.
import { type Authenticator, createServer, type ServerOptions, staticTokens } from "@virtual-workspaces/framework";
import { anonymous, bearerTokens } from "@virtual-workspaces/framework/authn";
import type { LogRecord } from "@virtual-workspaces/framework/server";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";

const tokens: Authenticator = staticTokens({ secret: { name: "alice" } });
const own = bearerTokens({ name: "own", verify: () => undefined });

/** Starts and stops a server, and returns its records of level warn, and its URL. */
async function warningsOf(options: Partial<ServerOptions>, begin = "listen") {
  const records: LogRecord[] = [];
  const log = (record: LogRecord): void => void records.push(record);
  await using server = createServer({ virtualWorkspaces: [], authentication: [tokens], log, ...options });
  const url = begin === "listen" ? (await server.listen({ port: 0 })).url : "";
  if (begin === "connect") {
    await server.start();
    server.connect().destroy();
  }
  return { url, warnings: records.filter(({ level }) => level === "warn") };
}

describe("a server with bearer tokens", () => {
  for (const [what, authentication] of [
    ["static tokens", [tokens]],
    ["tokens of any verifier, among others", [anonymous(), own]],
  ] as const)
    it(`warns once when it listens without TLS, with the remedy: ${what}`, async () => {
      const { url, warnings } = await warningsOf({ authentication });
      expect(warnings).to.eql([
        {
          level: "warn",
          message:
            "bearer tokens over plain HTTP: kubectl never sends them, and the network can read them: set tls, such as (await generatedTls({ dir })).tls, or tls: false behind a proxy that terminates TLS",
          url,
        },
      ]);
    });

  it("does not warn with TLS", async () => {
    using folder = tree({});
    const { tls } = await generatedTls({ dir: folder.path });
    expect((await warningsOf({ tls })).warnings).to.eql([]);
  });

  it("does not warn with `tls: false`, which states that a proxy terminates TLS", async () => {
    const { url, warnings } = await warningsOf({ tls: false });
    expect(url).to.match(/^http:/);
    expect(warnings).to.eql([]);
  });

  it("does not warn without an authenticator for tokens, or without a listener", async () => {
    expect((await warningsOf({ authentication: [anonymous()] })).warnings).to.eql([]);
    expect((await warningsOf({}, "connect")).warnings).to.eql([]);
  });
});
