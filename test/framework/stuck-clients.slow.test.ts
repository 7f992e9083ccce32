// Clients that never read their responses, with real clocks: over HTTP/2 they lose the streams, and then the connection.
import { once } from "node:events";
import { constants } from "node:http2";
import { createServer, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { Http2Client } from "../_support/http2.ts";
import { whoami } from "../_support/whoami.ts";

const servers = Authority.root("servers");
const seconds = (began: number): number => (performance.now() - began) / 1000;

describe("stuck clients", function () {
  this.timeout(400_000);

  it("lose their streams over HTTP/2, and then the connection, when they never read their responses", async () => {
    await using server = createServer({
      virtualWorkspaces: [whoami()],
      authentication: [staticTokens({ token: { name: "alice" } })],
      tls: servers.issue({ name: "server", usages: [SERVER_AUTH] }),
      log: testLog().log,
    });
    const { port } = await server.listen({ port: 0 });
    using client = await Http2Client.open(port, { ca: servers.cert, settings: { initialWindowSize: 0 } });
    const asked = ["/livez", "/readyz?verbose", "/services/who/", "/services/unknown", "/livez"];
    const began = performance.now();
    const codes = asked.map(async (path, at) => {
      const stream = client.begin({ path, headers: at === 4 ? { expect: "wonders" } : {} }).resume();
      await once(stream, "close");
      return stream.rstCode;
    });
    expect(await Promise.all(codes)).to.deep.equal(asked.map(() => constants.NGHTTP2_CANCEL));
    expect(seconds(began)).to.be.within(31, 45);
    expect(client.session.destroyed).to.equal(false);
    await client.closed;
    expect(seconds(began)).to.be.within(150, 175);
  });
});
