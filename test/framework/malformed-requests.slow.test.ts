// A hundred thousand malformed requests over real connections, some over TLS.
import { expect } from "chai";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { storm } from "../_support/storm.ts";
import { stormServer } from "../_support/storm-server.ts";

describe("a hundred thousand malformed requests", () => {
  it("leave the server intact: every response whole and in order, and no connection left", async function () {
    this.timeout(300_000);
    const servers = Authority.root("servers");
    const plain = stormServer();
    const secure = stormServer(servers.issue({ name: "server", usages: [SERVER_AUTH] }));
    const { port } = await plain.listen({ port: 0 });
    const { port: securePort } = await secure.listen({ port: 0 });
    const tally = await storm({ port, seed: 1_000_000, requests: 95_000 });
    await storm({ port: securePort, seed: 2_000_000, requests: 5000, tls: { ca: servers.cert } });
    expect([...tally.keys()]).to.include.members([200, 301, 304, 400, 401, 403, 404, 405, 406, 417, 422, 431]);
    const began = performance.now();
    await Promise.all([plain.close(), secure.close()]);
    expect(performance.now() - began).to.be.below(1500);
  });
});
