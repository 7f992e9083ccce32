/** `example.dev` and `v1` as Kubernetes puts them into operation ids (`ExampleDevV1`) and tags (`exampleDev_v1`). */
export interface OperationNames {
  readonly infix: string;
  readonly tag: string;
}

/** The names that stand for a group, or a group and its version, as Kubernetes' GetOperationIDAndTags makes them. */
export function operationNames(group: string, version?: string): OperationNames {
  const short = group === "" ? "core" : group.replace(/\.k8s\.io$/, "");
  const parts = version === undefined ? [short] : [short, version];
  return { infix: parts.map(pascalCase).join(""), tag: parts.map(camelCase).join("_") };
}

/** Only letters and digits, each letter after something else in upper case. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/);
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}

function camelCase(text: string): string {
  const pascal = pascalCase(text);
  return text.slice(0, 1) + pascal.slice(1);
}
