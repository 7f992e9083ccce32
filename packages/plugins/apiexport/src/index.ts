/**
 * kcp's views of APIExports and of the schemas that a workspace has bound, as virtual workspaces for any server of this project.
 *
 * @module
 */

export { apiExportView } from "./api-export-view.ts";
export { apiResourceSchemaView } from "./api-resource-schema-view.ts";
export { ApiModel, type ApiModelOptions } from "./model/api-model.ts";
export type { ApiExportViewOptions, ApiResourceSchemaViewOptions } from "./options.ts";
