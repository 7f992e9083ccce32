// kubectl with a credential plugin that logs in at a local OpenID Connect issuer, without a browser. The claims of the token
// decide the user in every view, also after the issuer changes its keys.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allow, defineResource, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import { authenticationConfiguration } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { testLog } from "../_setup/log.ts";
import { TestIssuer } from "../_support/issuer.ts";
import { type KubeconfigHome, kubeconfigHome, startTls } from "../_support/server.ts";
import { kubectl, type Output } from "../go/support/kubectl.ts";
import { kubectls, nameOf, needsKubectl } from "./support/kubectls.ts";

const PLUGIN = join(root, "test/e2e/support/oidc-login.fixture.ts");
const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
  columns: { Text: ".spec.text" },
});
const WRITERS = ["create", "update", "patch", "delete"];

const USERS = {
  jane: { password: "janes", groups: ["readers", "writers"] },
  joe: { password: "joes", groups: ["readers"] },
  eve: { password: "eves", groups: [] },
};

const configuration = (issuer: TestIssuer): string => `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: ${issuer.url}
    audiences: [vw]
    certificateAuthority: ${JSON.stringify(issuer.authority.cert)}
  claimMappings:
    username: { claim: sub, prefix: "oidc:" }
    groups: { claim: groups, prefix: "oidc:" }
  userValidationRules:
  - expression: "!user.username.startsWith('system:')"
`;

async function start() {
  const issuer = await TestIssuer.start({ users: USERS });
  const notes = Note.collection();
  notes.in("root").set("a", { text: "hello" });
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize: ({ user, verb }) => {
      if (!user.in("oidc:readers")) return deny("readers only");
      return !WRITERS.includes(verb) || user.in("oidc:writers") ? allow() : deny("writers only");
    },
    resources: [Note.serve(notes)],
  });
  const { log } = testLog();
  const { authenticators } = authenticationConfiguration(configuration(issuer), { log, fetchCooldown: 0 });
  const server = await startTls([view], { authentication: authenticators, log });
  const homes: KubeconfigHome[] = [];
  return {
    issuer,
    /** Home of a user who logs in each time that kubectl needs a token. */
    home: async (name: string, password: string): Promise<KubeconfigHome> => {
      const { authority, port } = server;
      const home = await kubeconfigHome({ authority, port, contexts: { notes: "/services/notes/clusters/root" } });
      homes.push(home);
      const ca = join(home.home, "issuer.crt");
      writeFileSync(ca, issuer.authority.cert);
      const config = JSON.parse(readFileSync(home.kubeconfig, "utf8"));
      const exec = {
        apiVersion: "client.authentication.k8s.io/v1",
        command: process.execPath,
        args: [PLUGIN, issuer.url, ca],
        env: Object.entries({ LOGIN_NAME: name, LOGIN_PASSWORD: password }).map(([name, value]) => ({ name, value })),
        interactiveMode: "Never",
      };
      config.users = [{ name: "admin", user: { exec } }];
      writeFileSync(home.kubeconfig, JSON.stringify(config));
      return home;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const home of homes) home[Symbol.dispose]();
      await server.close();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

describe("kubectl with a login at an OpenID Connect issuer", function () {
  this.timeout(60_000);
  before(needsKubectl);

  for (const file of kubectls())
    it(`is the user of the claims, with their groups: ${nameOf(file)}`, async () => {
      await using stage = await start();
      const as = async (name: string, password: string) => {
        const home = await stage.home(name, password);
        return (line: string): Promise<Output> => kubectl(file, home, line.split(" "));
      };
      const [jane, joe, eve] = [await as("jane", "janes"), await as("joe", "joes"), await as("eve", "eves")];
      expect((await joe("get notes")).stdout).to.match(/^NAME +TEXT +AGE\na +hello +/);
      expect((await jane("label note a color=red")).stdout).to.equal("note.example.dev/a labeled");
      expect((await joe("label note a color=blue --overwrite")).stderr).to.match(
        /User "oidc:joe" cannot patch resource "notes" in API group "example.dev" at the cluster scope: writers only/,
      );
      expect((await eve("get notes")).stderr).to.match(/User "oidc:eve" cannot .*: readers only|Forbidden/s);
      const before = stage.issuer.counts.token;
      stage.issuer.rotate(false);
      expect((await jane("delete note a")).stdout).to.match(/^note\.example\.dev "a" deleted/);
      expect(stage.issuer.counts.token).to.be.above(before);
    });

  it("is rejected with a wrong password, and with a token of another issuer", async () => {
    const [file = ""] = kubectls();
    await using stage = await start();
    const wrong = await kubectl(file, await stage.home("jane", "joes"), ["get", "notes"]);
    expect(wrong).to.include({ code: 1, stdout: "" });
    expect(wrong.stderr).to.include("the issuer says no");
    await using other = await TestIssuer.start();
    const { key } = stage.issuer;
    stage.issuer.key = other.key; // signs with a key that the issuer does not publish
    const forged = await kubectl(file, await stage.home("jane", "janes"), ["get", "notes"]);
    stage.issuer.key = key;
    expect(forged).to.include({ code: 1, stdout: "" });
    expect(forged.stderr).to.match(/Unauthorized|must be logged in|provide credentials/);
  });
});
