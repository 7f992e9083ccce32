import { fieldInvalid, fieldRequired, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { CrdNames } from "../definition/definition.ts";
import { labelCause } from "./label.ts";

type Causes = Generator<StatusCause, void>;

const MIXED = "may have mixed case, but should otherwise match: ";

/** What is wrong with names that are given (apiextensions' ValidateCustomResourceDefinitionNames). */
export function* namesProblems(names: CrdNames, path: string): Causes {
  const { plural, singular = "", kind, listKind = "", shortNames = [], categories = [] } = names;
  if (plural !== "") yield* labelCause(`${path}.plural`, plural);
  if (singular !== "") yield* labelCause(`${path}.singular`, singular);
  if (kind !== "") yield* labelCause(`${path}.kind`, kind, MIXED);
  if (listKind !== "") yield* labelCause(`${path}.listKind`, listKind, MIXED);
  for (const [at, name] of shortNames.entries()) yield* labelCause(`${path}.shortNames[${at}]`, name);
  if (kind !== "" && kind === listKind)
    yield fieldInvalid(`${path}.listKind`, listKind, "kind and listKind may not be the same");
  for (const [at, name] of categories.entries()) yield* labelCause(`${path}.categories[${at}]`, name);
}

/** Which of the names are missing that a spec must have. */
export function* missingNames(names: CrdNames): Causes {
  for (const name of ["plural", "singular", "kind", "listKind"] as const)
    if ((names[name] ?? "") === "") yield fieldRequired(`spec.names.${name}`);
}
