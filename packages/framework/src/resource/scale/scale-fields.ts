import { fieldInvalid, type KubeObject, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { ScalePaths } from "../../definition.ts";
import { ScaleField, ScaleFieldError } from "./scale-field.ts";

/** The fields that `/scale` of a kind shows. */
export interface ScaleFields {
  readonly wanted: ScaleField;
  readonly present: ScaleField;
  readonly selector: ScaleField | undefined;
}

/** @throws Error on a path that Kubernetes would not take (apiextensions' ValidateCustomResourceDefinitionSubresources) */
export function scaleFields({ specReplicasPath, statusReplicasPath, labelSelectorPath = "" }: ScalePaths): ScaleFields {
  return {
    wanted: new ScaleField(specReplicasPath, "specReplicasPath", ["spec"]),
    present: new ScaleField(statusReplicasPath, "statusReplicasPath", ["status"]),
    selector:
      labelSelectorPath === "" ? undefined : new ScaleField(labelSelectorPath, "labelSelectorPath", ["spec", "status"]),
  };
}

/** The most replicas that a Scale can count. */
const MOST = 2 ** 31 - 1;

/** What about an object cannot be shown by its `/scale`; of a write of the status, what there is of it. */
export function scaleProblems(object: KubeObject, fields: ScaleFields, part: string): StatusCause[] {
  const { wanted, present, selector } = fields;
  return [
    ...(part === "status" ? [] : replicasProblems(object, wanted)),
    ...replicasProblems(object, present),
    ...(selector === undefined ? [] : reading(selector, "", () => selector.readText(object)).causes),
  ];
}

function replicasProblems(object: KubeObject, field: ScaleField): StatusCause[] {
  const { causes, value = 0 } = reading(field, 0, () => field.readInteger(object));
  if (value < 0) return [fieldInvalid(field.path, value, "should be a non-negative integer")];
  if (value > MOST) return [fieldInvalid(field.path, value, `should be less than or equal to ${MOST}`)];
  return causes;
}

interface Reading<T> {
  readonly value?: T | undefined;
  readonly causes: StatusCause[];
}

/** @param nothing what Kubernetes says the value is where it cannot be read */
function reading<T>(field: ScaleField, nothing: T, read: () => T | undefined): Reading<T> {
  try {
    return { value: read(), causes: [] };
  } catch (error) {
    if (!(error instanceof ScaleFieldError)) throw error;
    return { causes: [fieldInvalid(field.path, nothing, error.message)] };
  }
}
