import type { CheckResult, ConformanceResource } from "../assertions/report.ts";
import type { Credentials } from "../http/credentials.ts";

/** An object by its names; "" where it has no namespace. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * How checks of reads change objects, where that is not done over the wire ({@link ConformanceWrites}). Without either
 * they are skipped.
 * Each must be done when it resolves, as a write over HTTP is.
 */
export interface Mutations {
  /** Makes an object of a name not used before. `undefined`: objects of this resource cannot be made. */
  create(resource: ConformanceResource): ObjectName | undefined | Promise<ObjectName | undefined>;
  /** Changes something in the object, so that its version grows. */
  update(resource: ConformanceResource, name: ObjectName): void | Promise<void>;
  /** Takes the object away: what checks make, they delete. */
  delete(resource: ConformanceResource, name: ObjectName): void | Promise<void>;
}

/**
 * Lets the suite write over the wire, as its user may: it makes objects of its own, changes and deletes those. They bear
 * the label `conformance.virtual-workspaces.dev/run`. A server that is wrong in the worst way may lose others: a delete
 * of a collection is only sent once lists with the same selector were seen to name nothing else.
 */
export interface ConformanceWrites {
  /**
   * What objects are made from, by `apiVersion` and `kind`; a `metadata.generateName` is what their names begin with.
   * @default the least that the OpenAPI schema asks for, else a copy of an object that is there
   */
  readonly samples?: readonly Readonly<Record<string, unknown>>[];
  /** Where namespaced objects are made; it must be there. @default "default" */
  readonly namespace?: string;
  /**
   * Whether objects go with their owners, and namespaces with what is in them, as in a cluster with its controllers: the run
   * makes namespaces of its own then, and waits for what goes. @default false, such checks are skipped
   */
  readonly collects?: boolean;
  /** Somebody who may patch but not create: an apply that creates is a create. @default none: the check is skipped */
  readonly patchOnly?: Credentials;
}

/** How long the suite waits, ms. */
export interface ConformanceDeadlines {
  /** For an answer, and for what a server may take a while to decide. @default 15000 */
  readonly answer: number;
  /** For what must come at once: headers of a watch, the bookmark that ends initial events. @default 1000 */
  readonly prompt: number;
}

/** What to check, as whom, and how far to go. */
export interface ConformanceOptions {
  /** Where `/api`, `/apis` and `/openapi` are below. */
  readonly url: string;
  /** @default none: checks that compare with and without are skipped */
  readonly credentials?: Credentials;
  /**
   * Other users, among whose requests those of {@link credentials} are mixed: nobody may be taken for another. Whom to
   * trust as the server is as in {@link credentials}, unless it is said here.
   * @default none: the check is skipped
   */
  readonly others?: readonly Credentials[];
  /** Which of the resources in discovery are checked. @default all that can be listed or watched */
  readonly resources?: (resource: ConformanceResource) => boolean;
  /** @default none: the suite changes nothing */
  readonly mutate?: Mutations;
  /**
   * Writes objects of all {@link resources}: name those that it may.
   * @default none: the suite writes nothing, and skips the checks that do
   */
  readonly writes?: ConformanceWrites;
  /** Which checks are made, by their ids: `T9.4`. @default all */
  readonly checks?: (id: string) => boolean;
  /** Checks too what this project promises beyond Kubernetes: Kubernetes itself fails some of it. @default false */
  readonly strict?: boolean;
  readonly deadlines?: Partial<ConformanceDeadlines>;
  /** Ends the run; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Told of each result as it comes; must not throw. */
  readonly onResult?: (result: CheckResult) => void;
}

/**
 * A filter for {@link ConformanceOptions.resources} from names as kubectl takes them: `quotes`, `quotes.example.dev`,
 * `quotes.v1.example.dev`. No names: every resource.
 */
export function matchResources(names: readonly string[]): (resource: ConformanceResource) => boolean {
  return ({ name, version, group }) => {
    const short = group === "" ? name : `${name}.${group}`;
    const full = group === "" ? `${name}.${version}` : `${name}.${version}.${group}`;
    return names.length === 0 || names.some((wanted) => [name, short, full].includes(wanted));
  };
}
