// A thousand concurrent users over shared connections: every response belongs to its own user.
import { Agent, request } from "node:https";
import { createServer, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { Http2Client } from "../_support/http2.ts";
import { whoami } from "../_support/whoami.ts";

const servers = Authority.root("servers");
const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
const USERS = 1000;
const CONNECTIONS = 100;
const ROUNDS = 3;

async function start() {
  const tokens = Object.fromEntries(
    Array.from({ length: USERS }, (_, at) => [`token-${at}`, { name: `user-${at}`, groups: [`group-${at}`] }]),
  );
  // An authenticator that is slow for half of the users, so that requests of a connection overtake each other.
  const known = staticTokens(tokens);
  const slow = {
    ...known,
    authenticate: (...asked: Parameters<typeof known.authenticate>) => {
      const user = known.authenticate(...asked);
      if (Math.random() < 0.5) return user;
      return new Promise<Awaited<typeof user>>((resolve) => void setTimeout(() => resolve(user), 5 * Math.random()));
    },
  };
  const server = createServer({ virtualWorkspaces: [whoami()], authentication: [slow], tls: keys, log: testLog().log });
  const { port } = await server.listen({ port: 0 });
  return { port, [Symbol.asyncDispose]: () => server.close() };
}

function expectOwn(at: number, { name, groups, search }: { name: string; groups: string[]; search: string }): void {
  expect({ name, groups, search }).to.deep.equal({
    name: `user-${at}`,
    groups: [`group-${at}`, "system:authenticated"],
    search: `?${at}`,
  });
}

describe("a thousand concurrent users", function () {
  this.timeout(60_000);

  it("keep their identities on kept-alive HTTP/1.1 connections", async () => {
    await using server = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ca: servers.cert });
    const ask = (at: number): Promise<string> =>
      new Promise((resolve, reject) => {
        const options = { port: server.port, host: "127.0.0.1", path: `/services/who/?${at}`, agent };
        const req = request({ ...options, headers: { authorization: `Bearer token-${at}` } }, (res) => {
          void res
            .setEncoding("utf8")
            .toArray()
            .then((pieces) => resolve(pieces.join("")), reject);
        });
        req.on("error", reject).end();
      });
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const answers = await Promise.all(Array.from({ length: USERS }, (_, at) => ask(at)));
        for (const [at, text] of answers.entries()) expectOwn(at, JSON.parse(text));
      }
    } finally {
      agent.destroy();
    }
  });

  it("keep their identities on HTTP/2 sessions that ten of them share", async () => {
    await using server = await start();
    const clients = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => Http2Client.open(server.port, { ca: servers.cert })),
    );
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const asked = Array.from({ length: USERS }, (_, at) => {
          const client = clients[(at + 7 * round) % CONNECTIONS] as Http2Client;
          return client.get(`/services/who/?${at}`, { authorization: `Bearer token-${at}` });
        });
        for (const [at, { body }] of (await Promise.all(asked)).entries()) expectOwn(at, body);
      }
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
  });
});
