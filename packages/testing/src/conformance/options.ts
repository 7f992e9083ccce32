import type { Credentials } from "../http/credentials.ts";
import type { CheckResult, ConformanceResource } from "./report.ts";

/** An object by its names; "" where it has no namespace. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * How checks change objects. Without these hooks the suite only reads, and the checks that need changes are skipped.
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
  /** Which of the resources in discovery are checked. @default all that can be listed or watched */
  readonly resources?: (resource: ConformanceResource) => boolean;
  /** @default none: the suite changes nothing */
  readonly mutate?: Mutations;
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
