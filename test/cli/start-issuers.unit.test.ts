// Addresses at which `virtual-workspaces start` contacts issuers of workspace types. Security: users who create a type choose
// the address.
import { expect } from "chai";
import { loginsOf } from "../../packages/cli/src/server/logins.ts";
import { expectFault } from "../_setup/faults.ts";
import { TestIssuer } from "../_support/issuer.ts";
import { makeAdmin, makeWorkspace } from "../workspace-server/support/logical-clusters.ts";
import { configure, makeType, mapped } from "../workspace-server/support/logins.ts";
import { startWorkspaces } from "../workspace-server/support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

/** Returns the status for a user of an issuer on this machine, in a workspace whose type names it. */
async function answered(issuerHosts: readonly string[] | undefined, issuer: TestIssuer): Promise<number> {
  await using server = await startWorkspaces(undefined, { workspaceAuthentication: await loginsOf(issuerHosts) });
  await configure(server, "a", [mapped(issuer, "a:")]);
  await makeType(server, "of-a", ["a"]);
  await makeAdmin(server, await makeWorkspace(server, "one", "of-a"), "a:jane");
  return (await server.get(`/clusters/root:one${MAPS}`, { user: issuer.token() })).status;
}

describe("issuers of workspace types, at virtual-workspaces start", () => {
  it("are not contacted on this machine unless that is allowed", async () => {
    await using issuer = await TestIssuer.start();
    for (const hosts of [[], ["issuer.example", "10.0.0.0/8"]]) {
      expect(await answered(hosts, issuer)).to.equal(401);
      expectFault(
        /cannot fetch keys.*127\.0\.0\.1: its address is restricted for issuers of workspace types: ask the operator/,
      );
    }
    expect(await answered(undefined, issuer)).to.equal(401);
    expect(issuer.paths).to.deep.equal([]);
    expect(await answered(["127.0.0.1"], issuer)).to.equal(200);
  });

  it("cause an error at the start if their allowed hosts are invalid", async () => {
    const failure = await loginsOf(["a host"]).catch(String);
    expect(failure).to.equal(
      'Error: allow: invalid value "a host": use a host, an address or a network, such as cluster.example, 10.1.2.3 or 10.0.0.0/8',
    );
  });
});
