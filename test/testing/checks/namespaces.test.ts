// Runs the suite's checks of namespaces (T14) on views with and without the hole of rules that compare names of namespaces.
import {
  type Authorizer,
  allow,
  byNamespace,
  defineResource,
  defineVirtualWorkspace,
  deny,
  staticTokens,
} from "@virtual-workspaces/framework";
import {
  type ConformanceOptions,
  type ConformanceReport,
  runConformance,
  startTestServer,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import { testLog } from "../../_setup/log.ts";
import { type Ask, type Breakage, isList } from "../broken/breakage.ts";
import { startBroken } from "../broken/proxy.ts";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Namespaced",
  spec: { type: "object" },
});
const Shelf = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Shelf",
  plural: "shelves",
  scope: "Cluster",
  spec: { type: "object" },
});

/** The rule of an author who forgets that lists of all namespaces have the namespace "". */
const holed: Authorizer<unknown> = ({ user, namespace }) =>
  user.name === "bob" && namespace === "secret" ? deny("ask alice") : allow();
const testers: Authorizer<unknown> = ({ user }) => (user.name === "tester" ? allow() : deny("testers only"));

/** Returns the report of T14, where bob may not list in the namespace "secret". */
async function reportOf(
  authorize: Authorizer<unknown>,
  run: Partial<ConformanceOptions> = { others: [{ token: "bob" }] },
  breakage: Breakage = { name: "nothing", fails: [] },
): Promise<ConformanceReport> {
  const notes = Note.collection();
  notes.in("root", "default").set("soup", {});
  notes.in("root", "secret").set("sauce", {});
  const view = defineVirtualWorkspace({
    name: "view",
    path: "/clusters/:cluster",
    authorize,
    resources: [Note.serve(notes), Shelf.serve(Shelf.collection())],
  });
  await using server = await startTestServer([view], {
    log: testLog().log,
    authentication: [staticTokens({ bob: { name: "bob" }, full: { name: "tester" }, open: { name: "carol" } })],
  });
  await using proxy = await startBroken(server.url, breakage);
  const report = await runConformance({
    url: `${proxy.url}/services/view/clusters/root`,
    credentials: server.credentials,
    checks: (id) => id.startsWith("T14."),
    resources: ({ name }) => name === "notes",
    ...run,
  });
  expect(notes.in("root", "secret").get("sauce"), "the object of alice").to.not.equal(undefined);
  return report;
}

/** Faults of servers behind byNamespace: they handle these requests of bob with all permissions. */
const faults: readonly (readonly [name: string, fails: string, ask: NonNullable<Breakage["ask"]>])[] = [
  [
    "shows tables of all namespaces",
    "T14.1",
    asTester((ask) => isList(ask) && ask.headers.accept?.includes("as=Table") === true),
  ],
  [
    "shows metadata of all namespaces",
    "T14.1",
    asTester(({ headers }) => headers.accept?.includes("as=PartialObjectMetadataList") === true),
  ],
  [
    "shows an object of all namespaces that a field selector names",
    "T14.1",
    asTester(({ query, isWatch }) => !isWatch && query.get("fieldSelector") === "metadata.name=sauce"),
  ],
  [
    "watches an object of all namespaces that a field selector names",
    "T14.2",
    asTester(({ query, isWatch }) => isWatch && query.has("fieldSelector")),
  ],
  [
    "watches metadata of all namespaces",
    "T14.2",
    asTester(({ headers, isWatch }) => isWatch && headers.accept?.includes("as=PartialObjectMetadata;") === true),
  ],
  [
    "shows an object to users who may not get it",
    "T14.3",
    asTester(({ path }) => path.endsWith("/secret/notes/sauce")),
  ],
  [
    "finds an object by its name in another namespace",
    "T14.3",
    (ask) => {
      const isElsewhere = ask.path.endsWith("/default/notes/sauce");
      if (isElsewhere) ask.path = ask.path.replace("/default/", "/secret/");
      return asTester(() => isElsewhere)(ask);
    },
  ],
  [
    "deletes objects of all namespaces",
    "T14.4",
    (ask) => {
      const isAll = ask.method === "DELETE" && ask.path.endsWith("/v1/notes");
      if (isAll) ask.path = ask.path.replace("/v1/notes", "/v1/namespaces/secret/notes");
      return asTester(() => isAll)(ask);
    },
  ],
];

/** Sends the requests of bob that match with the token of the tester. */
function asTester(matches: (ask: Ask) => boolean): NonNullable<Breakage["ask"]> {
  return (ask) => {
    const isOfBob = ask.headers.authorization === "Bearer bob";
    if (ask.method !== "POST" && isOfBob && !/\/default\/notes$/.test(ask.path) && !isProbe(ask) && matches(ask))
      ask.headers.authorization = "Bearer full";
    return undefined;
  };
}

/** Whether the check asks whether the user may list in a namespace. */
const isProbe = ({ query }: Ask): boolean => query.get("limit") === "1";

const told = ({ results }: ConformanceReport): Readonly<Record<string, string>> =>
  Object.fromEntries(
    results.map(({ id, outcome, reason, failure }) => [
      id,
      [outcome, failure?.expected ?? reason].filter(Boolean).join(": "),
    ]),
  );
const shown = ({ results }: ConformanceReport, id: string): string => {
  const { request = "", actual = "" } = results.find((one) => one.id === id)?.failure ?? {};
  return `${request}: ${actual}`;
};

describe("the suite's checks of namespaces", function () {
  this.timeout(30_000);
  const writes = { others: [{ token: "bob" }], writes: { namespace: "secret" } };

  it("find that a rule about names of namespaces allows lists and watches of all of them", async () => {
    const report = await reportOf(holed, writes);
    const found = told(report);
    const hidden = 'failed: no object of the namespace "secret", in which the other user 1 may not list';
    expect(found).to.include({ "T14.1": hidden, "T14.2": hidden, "T14.3": "passed" });
    expect(shown(report, "T14.1")).to.match(/^GET \S+\/apis\/example\.dev\/v1\/notes\S*.*: secret\/.*byNamespace\(\)$/);
    expect(shown(report, "T14.2")).to.match(/watch=true.*: secret\/.*byNamespace\(\)$/);
    expect(report.left).to.deep.equal([]);
  });

  it("pass with byNamespace, where bob may list in one namespace or in none", async () => {
    for (const rule of [holed, testers]) {
      const found = told(await reportOf(byNamespace(rule, testers), writes));
      expect(found).to.deep.equal({ "T14.1": "passed", "T14.2": "passed", "T14.3": "passed", "T14.4": "passed" });
    }
  });

  for (const [name, fails, ask] of faults)
    it(`find a server that ${name}`, async () => {
      const report = await reportOf(byNamespace(holed, testers), fails === "T14.4" ? writes : undefined, {
        name,
        fails: [fails],
        ask,
      });
      const failed = report.results.filter(({ outcome }) => outcome === "failed");
      expect(failed.map(({ id }) => id)).to.deep.equal([fails]);
      expect(failed[0]?.failure?.expected).to.match(/(in|of) the namespace "secret"/);
      expect(report.left).to.deep.equal([]);
    });

  it("are skipped without a user who may list in some namespaces only, and name the option", async () => {
    const alone = told(await reportOf(holed, {}));
    const why = "needs the token of a user who may list in some namespaces only: --other-token-file (others)";
    for (const id of ["T14.1", "T14.2", "T14.3"]) expect(alone[id], id).to.equal(`skipped: ${why}`);
    expect(alone["T14.4"]).to.equal("skipped: it writes objects, and the run only reads");
    const everywhere = told(await reportOf(holed, { others: [{ token: "open" }] }));
    expect(everywhere["T14.1"]).to.match(/^skipped: needs an object in a namespace in which .*--other-token-file/);
    const cluster = told(
      await reportOf(holed, { others: [{ token: "bob" }], resources: ({ name }) => name === "shelves" }),
    );
    expect(cluster["T14.1"]).to.equal("skipped: the resource is cluster-scoped");
    const elsewhere = told(await reportOf(holed, { others: [{ token: "bob" }], writes: {} }));
    expect(elsewhere["T14.4"]).to.match(
      /^skipped: all other users may list in the namespace "default": use --namespace/,
    );
  });
});
