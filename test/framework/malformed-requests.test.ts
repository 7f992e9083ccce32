// Some thousand malformed requests over real connections; test:slow sends a hundred thousand.
import { expect } from "chai";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { storm } from "../_support/storm.ts";
import { stormServer } from "../_support/storm-server.ts";

describe("a storm of malformed requests", () => {
  it("leaves the server intact: every response whole and in order, and no connection left", async function () {
    this.timeout(60_000);
    const server = stormServer();
    const { port } = await server.listen({ port: 0 });
    const tally = await storm({ port, seed: 1, requests: 5000 });
    expect([...tally.keys()]).to.include.members([200, 301, 304, 400, 401, 403, 404, 405, 406, 417, 422]);
    const began = performance.now();
    await server.close();
    expect(performance.now() - began).to.be.below(1500);
  });

  it("has the same result over TLS", async function () {
    this.timeout(60_000);
    const servers = Authority.root("servers");
    const server = stormServer(servers.issue({ name: "server", usages: [SERVER_AUTH] }));
    const { port } = await server.listen({ port: 0 });
    await storm({ port, seed: 2, requests: 500, tls: { ca: servers.cert } });
    await server.close();
  });
});
