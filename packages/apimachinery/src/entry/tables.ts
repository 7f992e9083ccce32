/**
 * Tables: columns and JSON paths.
 *
 * @module
 */

export { compileJsonPath, jsonPathSteps } from "../tables/jsonpath.ts";
export {
  AGE_COLUMN,
  type ColumnHead,
  type CompiledTable,
  type ComputedColumn,
  compileTable,
  isComputed,
  type PathColumn,
  type TableColumn,
  type TableColumnDefinition,
  type TableColumnType,
} from "../tables/table.ts";
