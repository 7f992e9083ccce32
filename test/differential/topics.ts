// All topics, in the order of an object's life.
import { APPLY } from "./cases/apply.ts";
import { APPLY_LISTS } from "./cases/apply-lists.ts";
import { BODIES, FIELD_VALIDATION } from "./cases/bodies.ts";
import { CEL } from "./cases/cel.ts";
import { CREATE } from "./cases/create.ts";
import { DELETE, DELETE_COLLECTION, FINALIZERS } from "./cases/delete.ts";
import { LISTS, SELECTORS } from "./cases/lists.ts";
import { NEGOTIATION, VERBS } from "./cases/negotiation.ts";
import { JSON_PATCH, MERGE } from "./cases/patch.ts";
import { RULES } from "./cases/rules.ts";
import { FORMATS, SCHEMA, VALIDATION } from "./cases/schema.ts";
import { SCALE, STATUS } from "./cases/subresources.ts";
import { UPDATE } from "./cases/update.ts";
import { VERSIONS } from "./cases/versions.ts";
import { WATCH } from "./cases/watch.ts";
import { YAML } from "./cases/yaml.ts";
import type { Topic } from "./step.ts";

export const TOPICS: readonly Topic[] = [
  CREATE,
  BODIES,
  FIELD_VALIDATION,
  YAML,
  SCHEMA,
  VALIDATION,
  FORMATS,
  RULES,
  CEL,
  UPDATE,
  VERSIONS,
  MERGE,
  JSON_PATCH,
  APPLY,
  APPLY_LISTS,
  DELETE,
  FINALIZERS,
  DELETE_COLLECTION,
  STATUS,
  SCALE,
  SELECTORS,
  LISTS,
  WATCH,
  NEGOTIATION,
  VERBS,
];

/** Returns the topics of a list such as `apply,update`, or all without a list. @throws Error for an unknown topic */
export function topicsOf(list: string | undefined): readonly Topic[] {
  return list?.split(",").map(topicOf) ?? TOPICS;
}

function topicOf(wanted: string): Topic {
  const found = TOPICS.find(({ name }) => name === wanted);
  if (found === undefined)
    throw new Error(`unknown topic "${wanted}": use one of ${TOPICS.map(({ name }) => name).join(", ")}`);
  return found;
}
