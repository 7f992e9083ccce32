import { fieldInvalid, fieldRequired, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { CrdColumn } from "../definition/definition.ts";
import { pathProblems } from "./paths.ts";

const TYPES = ["boolean", "date", "integer", "number", "string"];
const FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** What is wrong with a printer column (ValidateCustomResourceColumnDefinition). */
export function* columnProblems(column: CrdColumn, path: string): Generator<StatusCause, void> {
  const { name, type, format = "", jsonPath } = column;
  const types = `must be one of ${TYPES.join(",")}`;
  if (name === "") yield fieldRequired(`${path}.name`);
  if (type === "") yield fieldRequired(`${path}.type`, types);
  else if (!TYPES.includes(type)) yield fieldInvalid(`${path}.type`, type, types);
  if (format !== "" && !FORMATS.includes(format))
    yield fieldInvalid(`${path}.format`, format, `must be one of ${FORMATS.join(",")}`);
  // The field has this name in Go, which Kubernetes' messages use.
  if (jsonPath === "") yield fieldRequired(`${path}.JSONPath`);
  else yield* pathProblems(jsonPath, `${path}.JSONPath`);
}
