// kubectl reads its user and permissions: two users in who-sees-what and in roles, each through its own view and through the
// view over all views.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { groups, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import roles from "../../examples/roles.ts";
import whoSeesWhat from "../../examples/who-sees-what.ts";
import { unionOf } from "../../packages/cli/src/dev/union.ts";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../_support/server.ts";
import { kubectl } from "../go/support/kubectl.ts";
import { kubectls, nameOf } from "./support/kubectls.ts";

const ALICE = { name: "alice", uid: "17", groups: ["readers"], extra: { "example.dev/scope": ["a", "b"] } };

/** Earlier versions of `auth whoami` used a beta API that no longer exists. */
const asksWho = (file: string): boolean => !/\.1\.(2[0-7])$/.test(file);

describe("kubectl", function () {
  this.timeout(60_000);
  const found = kubectls();
  let server: TlsServer;
  let alice: KubeconfigHome;
  let admin: KubeconfigHome;

  before(async function () {
    if (found.length === 0) this.skip();
    const all = unionOf("all", [roles, whoSeesWhat]);
    if (all === undefined) throw new Error("there are no views to show together");
    const authentication = [
      staticTokens({ "alice-token": ALICE, "admin-token": { name: "admin", groups: ["system:masters"] } }),
    ];
    server = await startTls([whoSeesWhat, roles, all], { authentication, impersonation: groups("system:masters") });
    const contexts = Object.fromEntries(
      [whoSeesWhat, roles, all].map(({ name }) => [name, `/services/${name}/clusters/root`]),
    );
    alice = await kubeconfigHome({ ...server, contexts, user: "alice", namespace: "default" });
    admin = await kubeconfigHome({ ...server, contexts, user: "admin", token: "admin-token", namespace: "default" });
  });
  after(async () => {
    for (const home of [alice, admin]) home?.[Symbol.dispose]();
    await server?.close();
  });

  for (const file of found) {
    describe(nameOf(file), () => {
      const ask = async (home: KubeconfigHome, context: string, ...args: string[]): Promise<string> => {
        const folder = join(home.home, nameOf(file));
        mkdirSync(folder, { recursive: true });
        const { stdout, stderr } = await kubectl(file, { ...home, home: folder }, ["--context", context, ...args]);
        const errors = stderr.split("\n").filter((line) => !line.includes("is not namespace scoped"));
        return [...stdout.split("\n"), ...errors]
          .filter((line) => line !== "")
          .map((line) => line.trimEnd().replace(/ {2,}/g, "  "))
          .join("\n");
      };
      const mayEach = async (
        home: KubeconfigHome,
        context: string,
        questions: readonly string[],
      ): Promise<string[]> => {
        const answers: string[] = [];
        for (const question of questions)
          answers.push((await ask(home, context, "auth", "can-i", ...question.split(" "))).split("\n")[0] ?? "");
        return answers;
      };

      it("shows its user", async function () {
        if (!asksWho(file)) this.skip();
        expect(await ask(alice, "who-sees-what", "auth", "whoami")).to.equal(
          [
            "ATTRIBUTE  VALUE",
            "Username  alice",
            "UID  17",
            "Groups  [readers system:authenticated]",
            "Extra: example.dev/scope  [a b]",
          ].join("\n"),
        );
        const told = JSON.parse(await ask(admin, "who-sees-what", "auth", "whoami", "-o", "json"));
        expect(told.status.userInfo).to.deep.equal({
          username: "admin",
          groups: ["system:masters", "system:authenticated"],
        });
      });

      it("shows the impersonated user", async function () {
        const as = ["--as", "dave", "--as-group", "readers", "--as-group", "writers"];
        expect(await ask(admin, "who-sees-what", "get", "salaries", "--as", "dave")).to.contain(
          'error: the server doesn\'t have a resource type "salaries"',
        );
        // Fills kubectl's discovery cache: kubectl prints no text of errors during discovery.
        expect(await ask(alice, "who-sees-what", "get", "documents")).to.contain("menu");
        const refused = await ask(alice, "who-sees-what", "get", "documents", "--as", "dave");
        expect(refused).to.match(/User .{0,2}alice.{0,2} cannot impersonate resource .{0,2}users.{0,2} in API group/);
        const may = await mayEach(alice, "who-sees-what", ["impersonate users", "impersonate groups/readers"]);
        expect(may).to.deep.equal(Array(2).fill("no - you are in no group that may do this"));
        expect(await mayEach(admin, "who-sees-what", ["impersonate users"])).to.deep.equal(["yes"]);
        if (!asksWho(file)) this.skip();
        expect(await ask(admin, "who-sees-what", "auth", "whoami", ...as)).to.equal(
          ["ATTRIBUTE  VALUE", "Username  dave", "Groups  [readers writers system:authenticated]"].join("\n"),
        );
      });

      it("shows whether a request is allowed", async () => {
        const questions = ["get documents", "list salaries.example.dev", "delete documents/menu", "get /apis"];
        expect(await mayEach(alice, "who-sees-what", questions)).to.deep.equal(["yes", "yes", "yes", "yes"]);
        const edits = [
          "list runbooks",
          "create runbooks",
          "create runbooks -n attic",
          "delete runbooks/fax -n attic",
          "post /apis",
        ];
        expect(await mayEach(alice, "roles", edits)).to.deep.equal(["yes", "no", "yes", "yes", "no"]);
        expect(await mayEach(admin, "roles", edits)).to.deep.equal(["yes", "yes", "yes", "yes", "no"]);
      });

      it("shows the same in the view over both", async () => {
        const questions = ["list documents", "create runbooks", "create runbooks -n attic", "delete documents/menu"];
        expect(await mayEach(alice, "all", questions)).to.deep.equal(["yes", "no", "yes", "yes"]);
        expect(await mayEach(admin, "all", questions)).to.deep.equal(["yes", "yes", "yes", "yes"]);
      });

      it("lists its permissions", async () => {
        const reviews = [
          "Resources  Non-Resource URLs  Resource Names  Verbs",
          "selfsubjectreviews.authentication.k8s.io  []  []  [create]",
          "selfsubjectaccessreviews.authorization.k8s.io  []  []  [create]",
          "selfsubjectrulesreviews.authorization.k8s.io  []  []  [create]",
        ];
        const list = async (home: KubeconfigHome, context: string, ...args: string[]): Promise<string[]> =>
          (await ask(home, context, "auth", "can-i", "--list", ...args)).split("\n").sort();
        const everything = ["*.*  []  []  [*]", "  [*]  []  [*]"];
        expect(await list(alice, "who-sees-what")).to.deep.equal([...reviews, ...everything].sort());
        const views = "  [*]  []  [get]";
        const edits = "[create update patch delete]";
        expect(await list(alice, "roles")).to.deep.equal(
          [...reviews, views, "runbooks.example.dev  []  []  [get list watch]"].sort(),
        );
        expect(await list(alice, "roles", "-n", "attic")).to.deep.equal(
          [...reviews, views, `runbooks.example.dev  []  []  [get list watch${edits.replace("[", " ")}`].sort(),
        );
        expect((await list(alice, "all")).join("\n")).to.include(
          "the list may be incomplete: the authorizer of this view cannot list",
        );
      });

      it("shows whether a file sent to the path is allowed", async () => {
        const file = join(alice.home, "review.json");
        const spec = { nonResourceAttributes: { verb: "get", path: "/apis" } };
        const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
        writeFileSync(file, JSON.stringify(review));
        const path = "/services/roles/clusters/root/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        expect(await ask(alice, "roles", "create", "--raw", path, "-f", file)).to.include('"status":{"allowed":true}');
      });

      it("shows the same denial as the request itself", async () => {
        const refused = await ask(alice, "roles", "delete", "runbook", "restart");
        expect(refused).to.equal(
          'Error from server (Forbidden): runbooks.example.dev "restart" is forbidden: User "alice" cannot delete resource "runbooks" in API group "example.dev" in the namespace "default"',
        );
      });
    });
  }
});
