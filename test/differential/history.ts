// Random cases with a few names, a few managers and every verb.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import type { Resource } from "@virtual-workspaces/framework";
import { Random } from "../_support/random.ts";
import { Api, type Content, type Particulars } from "./api.ts";
import { KINDS } from "./kinds.ts";
import type { Case, RequestStep, Step } from "./step.ts";
import { Values } from "./values.ts";

const NAMES = ["a", "b", "c"] as const;
const MANAGERS = ["one", "two", "three"] as const;
const FINALIZERS: readonly (readonly string[] | null)[] = [
  ["example.dev/x"],
  ["example.dev/y", "example.dev/x"],
  [],
  null,
];
const LABELS: readonly unknown[] = [{ l: "x" }, { l: "y", m: "z" }, { l: null }, null, {}];
/** Kinds in histories, except the one whose no-op writes differ, see docs/reference/conformance.md. */
const RESOURCES = KINDS.map(([resource]) => resource).filter(
  ({ kind }) => !/^(?:Formatted|Waiter|Celled\d)$/.test(kind),
);

/** Returns the history of a seed. */
export function history(seed: number): Case {
  const random = new Random(seed);
  return new History(random, random.pick(RESOURCES)).case(`history ${seed}`);
}

class History {
  readonly #random: Random;
  readonly #resource: Resource;
  readonly #api: Api;
  readonly #values: Values;
  /** Names of answers, from which an update may start. */
  readonly #answers: string[] = [];
  /** Latest number of replicas in a scale, different from the numbers in other writes. */
  #replicas = 10;

  constructor(random: Random, resource: Resource) {
    this.#random = random;
    this.#resource = resource;
    this.#api = new Api(resource.kind, { namespaced: resource.scope === "Namespaced" });
    this.#values = new Values(random, random.pick([0, 0, 0.02, 0.1]));
  }

  /** Returns the case with a watch, which reads all events up to a last object. */
  case(name: string): Case {
    const { kind } = this.#resource;
    const watch = this.#random.pick(["", "&labelSelector=l", "&fieldSelector=metadata.name!%3Db"]);
    const steps: Step[] = [
      this.#api.list(undefined, { as: "start" }),
      this.#api.watch(`resourceVersion=$(start.metadata.resourceVersion)${watch}`),
      ...this.#random.many(6 + this.#random.below(14), () => this.#step()),
      this.#api.list(),
      this.#api.make(
        "r-last",
        { metadata: { labels: { l: "last" } }, spec: { text: "last", name: "last" } },
        { query: IGNORE },
      ),
      { read: "w", until: "r-last" },
    ];
    return { name: `${name}: ${kind}`, steps };
  }

  #step(): RequestStep {
    const roll = this.#random.below(100);
    if (roll < 22) return this.#create();
    if (roll < 52) return this.#apply();
    if (roll < 64) return this.#update();
    if (roll < 74) return this.#merge();
    if (roll < 82) return this.#json();
    if (roll < 90) return this.#delete();
    if (roll < 93) return this.#finalize();
    return this.#read();
  }

  #create(): RequestStep {
    return this.#api.make(this.#name(), this.#content(), { query: this.#query(), as: this.#answer() });
  }

  #apply(): RequestStep {
    const { query, ...options } = this.#sub();
    const content = this.#content(options.sub);
    const force = this.#random.chance(0.25) ? "force=true&" : "";
    const asked = `${force}${query ?? this.#query(false)}`;
    return this.#api.apply(this.#name(), content, {
      ...options,
      by: this.#random.pick(MANAGERS),
      query: asked,
    });
  }

  #update(): RequestStep {
    if (this.#answers.length === 0) return this.#create();
    const base = this.#random.pick(this.#answers);
    const options = this.#sub();
    return this.#api.change(base, this.#content(options.sub), { ...options, query: this.#query(), as: this.#answer() });
  }

  #merge(): RequestStep {
    if (this.#resource.subresources.scale !== undefined && this.#random.chance(0.3)) return this.#scale();
    const options = this.#sub();
    const content = this.#content(options.sub);
    return this.#api.merge(this.#name(), content, { ...options, query: this.#query(), as: this.#answer() });
  }

  #scale(): RequestStep {
    const options = { sub: "scale", query: this.#query() };
    if (this.#random.chance(0.2)) return this.#api.get(this.#name(), options);
    this.#replicas++; // A scale never keeps the number, see intended.ts.
    const replicas = this.#random.pick([this.#replicas, this.#replicas, 200, -1]);
    return this.#api.merge(this.#name(), { spec: { replicas } }, options);
  }

  #json(): RequestStep {
    const content = (this.#content()["spec"] ?? {}) as Record<string, unknown>;
    const operations = Object.entries(content).map(([member, value]) => {
      const op = this.#random.pick(["add", "add", "replace", "remove", "test"]);
      return { op, path: `/spec/${member}`, ...(op === "remove" ? {} : { value }) };
    });
    return this.#api.json(this.#name(), operations.slice(0, 3), { query: this.#query() });
  }

  #delete(): RequestStep {
    const options = this.#random.pick([
      undefined,
      undefined,
      { propagationPolicy: "Foreground" },
      { dryRun: ["All"] },
      { gracePeriodSeconds: 5 },
    ]);
    if (this.#random.chance(0.1))
      return this.#api.deleteAll(this.#random.pick([undefined, "labelSelector=l%3Dx"]), options);
    return this.#api.delete(this.#name(), options);
  }

  #finalize(): RequestStep {
    return this.#api.merge(
      this.#name(),
      { metadata: { finalizers: this.#random.pick(FINALIZERS) } },
      { query: this.#query() },
    );
  }

  #read(): RequestStep {
    if (this.#random.chance(0.5)) return this.#api.get(this.#name(), { as: this.#answer() });
    return this.#api.list(
      this.#random.pick([undefined, "labelSelector=l%3Dx", "limit=2", "fieldSelector=metadata.name%3Da"]),
    );
  }

  /** Fields that a write ignores are valid; otherwise Kubernetes loses the owners of the other fields. */
  #content(sub?: string): Content {
    const { schema, subresources } = this.#resource;
    const metadata: Record<string, unknown> = {};
    if (this.#random.chance(0.3)) metadata["labels"] = this.#random.pick(LABELS.slice(0, 2));
    if (this.#random.chance(0.08)) metadata["finalizers"] = this.#random.pick(FINALIZERS.slice(0, 2));
    const content = this.#values.of({ ...schema, type: "object" });
    const unseen = sub === "status" ? "spec" : "status";
    if (subresources.status && isJsonObject(content) && unseen in content)
      content[unseen] = new Values(this.#random, 0).of(schema.properties?.[unseen] ?? {});
    return {
      ...(isJsonObject(content) ? content : {}),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    };
  }

  #query(manager = true): string {
    const options = [
      ...(manager ? [`fieldManager=${this.#random.pick(MANAGERS)}`] : []),
      ...(this.#random.chance(0.1) ? ["dryRun=All"] : []),
      ...(this.#random.chance(0.15) ? [`fieldValidation=${this.#random.pick(["Strict", "Ignore", "Warn"])}`] : []),
    ];
    return options.join("&");
  }

  #sub(): Particulars {
    const { status } = this.#resource.subresources;
    return status && this.#random.chance(0.3) ? { sub: "status" } : {};
  }

  #name(): string {
    return this.#resource.kind === "Ruled" ? `r-${this.#random.pick(NAMES)}` : this.#random.pick(NAMES);
  }

  #answer(): string {
    const name = this.#random.pick(["p", "q", "r"]);
    this.#answers.push(name);
    return name;
  }
}

/** Ensures that the last object is created, whatever fields its kind has. */
const IGNORE = "fieldValidation=Ignore";
