import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { FieldSelector, LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { LazyExpressions } from "@virtual-workspaces/framework/resource";
import type { Encoded } from "@virtual-workspaces/framework/storage";
import type { ClusterSet } from "../access/cluster-set.ts";
import { searchedFields } from "./fields.ts";
import type { Query } from "./query.ts";

/** Objects that a request selects. */
export interface Selected {
  /** Logical cluster, `*` for all that `clusters` has, "" where paths have none. */
  readonly cluster: string;
  /** Namespace, "" for all. */
  readonly namespace: string;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** Logical clusters whose objects the caller may list. */
  readonly clusters: ClusterSet;
}

/** Most work of a filter on one object, in CEL's cost units of about 100 ns: every change of an object costs it again. */
const STEPS = 5_000;

const FILTERS = new LazyExpressions({ object: "any" }, { wholeNumbers: "int", revealing: true });

/** Decides which objects are in a query. Security: an object whose filter fails is not. */
export class Matcher {
  readonly #selected: Selected;
  readonly #isFiltered: ((object: KubeObject) => boolean) | undefined;
  readonly #isFound: ((object: KubeObject) => boolean) | undefined;
  /** Error of the filter on some object. */
  failure: string | undefined;

  /** @throws ApiError 400 when the filter does not compile */
  constructor(definition: ResourceDefinition, query: Pick<Query, "filter" | "search">, selected: Selected) {
    this.#selected = selected;
    this.#isFiltered = query.filter === "" ? undefined : this.#filter(query.filter);
    this.#isFound = query.search === "" ? undefined : searching(definition, query.search);
  }

  /** Whether an object matches. @param parsed returns the parsed object */
  matches(object: Encoded, parsed: () => KubeObject): boolean {
    const { cluster, namespace, labels, fields, clusters } = this.#selected;
    const { key } = object;
    return (
      (cluster === "*" ? clusters.has(key.cluster) : cluster === key.cluster) &&
      (namespace === "" || namespace === key.namespace) &&
      (labels.empty || labels.matches(object.labels)) &&
      (fields.empty || fields.matches(object.fields)) &&
      (this.#isFound?.(parsed()) ?? true) &&
      (this.#isFiltered?.(parsed()) ?? true)
    );
  }

  #filter(source: string): (object: KubeObject) => boolean {
    const expressions = FILTERS.compose();
    const compiled = expressions.compile(source, "bool");
    if ("problem" in compiled)
      throw ApiError.badRequest(
        `invalid filter: use a CEL expression over "object" that is true or false: ${compiled.problem}`,
      );
    return (object) => {
      const evaluation = expressions.evaluation({ values: { object } });
      evaluation.allow(STEPS);
      try {
        return evaluation.evaluate(compiled.expression) === true;
      } catch (error) {
        this.failure ??= (error as Error).message;
        return false;
      }
    };
  }
}

/** Finds a text in the names and columns of objects, whatever its case. */
function searching(definition: ResourceDefinition, text: string): (object: KubeObject) => boolean {
  const fields = searchedFields(definition);
  return (object) =>
    fields.some(({ read }) =>
      String(read(object) ?? "")
        .toLowerCase()
        .includes(text),
    );
}
