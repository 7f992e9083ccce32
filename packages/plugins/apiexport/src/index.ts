/**
 * kcp's views of APIExports, of the schemas that a workspace has bound, and of cached resources, as virtual workspaces for any server of this project.
 *
 * @module
 */

export { apiExportView } from "./api-export-view.ts";
export { apiResourceSchemaView } from "./api-resource-schema-view.ts";
export { ApiModel, type ApiModelOptions } from "./model/api-model.ts";
export type { ApiExportViewOptions, ApiResourceSchemaViewOptions, ReplicationViewOptions } from "./options.ts";
export { replicationView } from "./replication-view.ts";
