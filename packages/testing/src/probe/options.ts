import type { CheckResult, ConformanceResource } from "../assertions/report.ts";
import type { Credentials } from "../http/credentials.ts";

/** Name and namespace of an object, "" for the namespace of a cluster-scoped one. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Hooks that change objects for checks of reads, when the suite does not write by HTTP ({@link ConformanceWrites}). Without
 * either, these checks are skipped. Each change must be complete when the hook resolves, like a write over HTTP.
 */
export interface Mutations {
  /** Creates an object with a new name. Returns `undefined` when objects of this resource cannot be created. */
  create(resource: ConformanceResource): ObjectName | undefined | Promise<ObjectName | undefined>;
  /** Changes the object, so that its version grows. */
  update(resource: ConformanceResource, name: ObjectName): void | Promise<void>;
  /** Deletes the object: checks delete the objects that they create. */
  delete(resource: ConformanceResource, name: ObjectName): void | Promise<void>;
}

/**
 * Allows the suite to write over HTTP with the rights of its user. It creates, changes and deletes objects of its own, with
 * the label `conformance.virtual-workspaces.dev/run`. Security: a seriously faulty server may still lose other objects. The
 * suite therefore deletes a collection only after lists with the same selector return nothing else.
 */
export interface ConformanceWrites {
  /**
   * Templates of objects, by `apiVersion` and `kind`. Names begin with `metadata.generateName`, if it is set.
   * @default the minimum that the OpenAPI schema requires, else a copy of an existing object
   */
  readonly samples?: readonly Readonly<Record<string, unknown>>[];
  /** Existing namespace for namespaced objects. @default "default" */
  readonly namespace?: string;
  /**
   * Whether the server deletes dependents with their owners, and contents with their namespace, as the controllers of a
   * cluster do. The run then creates namespaces of its own, and waits for these deletions.
   * @default false, such checks are skipped
   */
  readonly collects?: boolean;
  /** Value of the label, which identifies the objects of the run. @default random, as of {@link newRun} */
  readonly run?: string;
  /** User who may patch but not create, because an apply that creates is a create. @default none: the check is skipped */
  readonly patchOnly?: Credentials;
}

/** Deadlines of the suite, in ms. */
export interface ConformanceDeadlines {
  /** Deadline for an answer, and for slow decisions of the server. @default 15000 */
  readonly answer: number;
  /** Deadline for prompt answers: headers of a watch, the bookmark that ends initial events. @default 1000 */
  readonly prompt: number;
}

/** Options of {@link runConformance}. */
export interface ConformanceOptions {
  /** URL below which `/api`, `/apis` and `/openapi` are. */
  readonly url: string;
  /** Credentials of the run. @default none: checks that compare with and without credentials are skipped */
  readonly credentials?: Credentials;
  /**
   * Other users, whose requests are mixed with those of {@link credentials}: no user may get the identity of another. A user
   * who may not list in some namespace must not see objects of that namespace in any way (T14); the user of the run must see
   * them. The server is verified as in {@link credentials}, unless this object says otherwise.
   * @default none: the checks are skipped
   */
  readonly others?: readonly Credentials[];
  /** Selects the resources of discovery to check. @default all that can be listed or watched */
  readonly resources?: (resource: ConformanceResource) => boolean;
  /** Hooks that change objects. @default none: the suite changes nothing */
  readonly mutate?: Mutations;
  /**
   * Allows writes to objects of all {@link resources}: list only those that the run may write.
   * @default none: the suite writes nothing, and skips the checks that do
   */
  readonly writes?: ConformanceWrites;
  /** Selects the checks to run, by id: `T9.4`. @default all */
  readonly checks?: (id: string) => boolean;
  /** Also checks promises of this project that go beyond Kubernetes. Kubernetes itself fails some of them. @default false */
  readonly strict?: boolean;
  readonly deadlines?: Partial<ConformanceDeadlines>;
  /** Ends the run, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called with each result as it arrives; must not throw. */
  readonly onResult?: (result: CheckResult) => void;
}

/**
 * Returns a filter for {@link ConformanceOptions.resources} from names in kubectl's format: `quotes`, `quotes.example.dev`,
 * `quotes.v1.example.dev`. Without names it selects every resource.
 */
export function matchResources(names: readonly string[]): (resource: ConformanceResource) => boolean {
  return ({ name, version, group }) => {
    const short = group === "" ? name : `${name}.${group}`;
    const full = group === "" ? `${name}.${version}` : `${name}.${version}.${group}`;
    return names.length === 0 || names.some((wanted) => [name, short, full].includes(wanted));
  };
}
