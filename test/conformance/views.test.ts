// Runs the conformance suite over what authors write: collections, views, storages of plain functions. No check may fail, and
// each skipped check has a known reason.
import {
  authenticated,
  type Collection,
  defineResource,
  defineVirtualWorkspace,
  type ObjectOf,
  type Resource,
  staticTokens,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import {
  type CheckResult,
  type ConformanceReport,
  FakeSource,
  type FakeSourceOptions,
  type Mutations,
  runConformance,
  startTestServer,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import quotesView from "../../examples/quotes.ts";
import { testLog } from "../_setup/log.ts";
import { notesView } from "../testing/notes.ts";

interface Subject {
  readonly view: VirtualWorkspace;
  readonly path: string;
  readonly mutate?: Mutations;
}

async function reportOn({ view, path, mutate }: Subject): Promise<ConformanceReport> {
  const authentication = [staticTokens({ other: { name: "other" } })];
  await using server = await startTestServer([view], { log: testLog().log, authentication });
  return await runConformance({
    url: `${server.url}${path}`,
    credentials: server.credentials,
    others: [{ token: "other" }],
    strict: true,
    deadlines: { prompt: 2_500 },
    ...(mutate === undefined ? {} : { mutate }),
  });
}

function subject(storage: Storage<ThingObject>, mutate?: Mutations): Subject {
  return {
    path: "/services/subject/clusters/root",
    view: defineVirtualWorkspace({
      name: "subject",
      path: "/clusters/:cluster",
      authorize: authenticated(),
      resources: [Thing.serve(storage)],
    }),
    ...(mutate === undefined ? {} : { mutate }),
  };
}

const Thing = defineResource({
  group: "things.example.dev",
  version: "v1beta2",
  kind: "Thing",
  scope: "Cluster",
  spec: { type: "object", properties: { size: { type: "integer" }, shown: { type: "boolean" } } },
});

type ThingContent = ContentOf<typeof Thing>;
type ThingObject = ObjectOf<ThingContent>;
type ContentOf<R> = R extends Resource<infer T> ? T : never;

function someThings(): Collection<ThingContent> {
  const things = Thing.collection();
  for (const name of ["a", "b", "c"]) things.in("root").set(name, { size: 1, shown: true }, { labels: { name } });
  things.in("root").set("hidden", { size: 1, shown: false });
  return things;
}

/** Enters by becoming visible, changes, and leaves by being hidden: the transitions of a view. */
function byVisibility(things: Collection<ThingContent>): Mutations {
  let made = 0;
  const here = things.in("root");
  return {
    create: () => {
      const name = `made-${++made}`;
      here.set(name, { size: 1, shown: false });
      here.set(name, { size: 1, shown: true });
      return { namespace: "", name };
    },
    update: (_, { name }) => void here.set(name, { size: (here.get(name)?.spec.size ?? 0) + 1, shown: true }),
    delete: (_, { name }) => void here.set(name, { size: 1, shown: false }),
  };
}

function bySource(source: FakeSource<ThingContent>): Mutations {
  let made = 0;
  return {
    create: () => {
      const name = `made-${++made}`;
      source.set({ name });
      return { namespace: "", name };
    },
    update: (_, { name }) => void source.set({ name }, { spec: { size: ++made } }),
    delete: (_, name) => source.delete(name),
  };
}

function sourceOfThree(options?: FakeSourceOptions): FakeSource<ThingContent> {
  const source = new FakeSource(Thing, options);
  for (const name of ["a", "b", "c"]) source.set({ name }, { labels: { name }, spec: { size: 1 } });
  return source;
}

const of = ({ results }: ConformanceReport, outcome: CheckResult["outcome"]): string[] =>
  results
    .filter((result) => result.outcome === outcome)
    .map(({ id, reason, failure }) => `${id} ${reason ?? JSON.stringify(failure)}`);

describe("the conformance suite", function () {
  this.timeout(90_000);
  const NEEDS_OBJECT = /needs (an object|2 objects), there (are 0|is 1)/;
  const NO_NAMESPACES = /W5 the resource is not namespaced/;
  const NO_HOOKS = /it changes objects, and the run only reads/;
  const ONLY_READS = /it writes objects, and the run only reads/;
  const NO_RULES = /T20\.3 the rules review is marked incomplete/;
  const NO_WATCH = /the resource lacks the verb watch/;
  /** The other user may list everywhere. */
  const NO_LIMITS = /^T14\.\d (?:the resource is cluster-scoped|needs an object in a namespace in which another user)/;
  const source = sourceOfThree();
  const encoded = sourceOfThree({ encoded: true, head: false });
  const things = someThings();

  const subjects: readonly { readonly name: string; readonly subject: Subject; readonly skips: readonly RegExp[] }[] = [
    { name: "a namespaced kind in a collection", subject: notesView(), skips: [] },
    {
      name: "examples/quotes.ts, which moves by itself",
      subject: { view: quotesView, path: "/services/quotes/clusters/root" },
      skips: [NO_HOOKS, NO_NAMESPACES, NEEDS_OBJECT, NO_RULES, /W3 no object has a label/],
    },
    {
      name: "an empty collection",
      subject: subject(Thing.collection()),
      skips: [NO_HOOKS, NO_NAMESPACES, NEEDS_OBJECT],
    },
    {
      name: "a view() that objects enter and leave",
      subject: subject(view({ from: things, select: ({ spec }) => spec.shown === true }), byVisibility(things)),
      skips: [NO_NAMESPACES],
    },
    {
      name: "a storage of plain functions",
      subject: subject(source.storage, bySource(source)),
      skips: [NO_NAMESPACES],
    },
    {
      name: "a storage of plain functions that hands out bytes, without head",
      subject: subject(encoded.storage, bySource(encoded)),
      skips: [NO_NAMESPACES],
    },
    {
      name: "a storage of get and list alone, without versions",
      subject: subject({ get: () => undefined, list: () => ({ items: [] }) }),
      skips: [NO_HOOKS, NO_WATCH, NEEDS_OBJECT, /its lists have no version/],
    },
  ];

  // The reports run concurrently, because they mostly wait for future versions.
  let reports: ReadonlyMap<Subject, Promise<ConformanceReport>>;
  before(() => {
    reports = new Map(subjects.map(({ subject }) => [subject, reportOn(subject)]));
  });

  for (const { name, subject, skips } of subjects) {
    it(`passes for ${name}`, async () => {
      const report = (await reports.get(subject)) as ConformanceReport;
      expect(of(report, "failed")).to.deep.equal([]);
      expect(
        of(report, "skipped").filter((why) => ![ONLY_READS, NO_LIMITS, ...skips].some((known) => known.test(why))),
      ).to.deep.equal([]);
      expect(report.passed).to.be.greaterThan(30);
    });
  }
});
