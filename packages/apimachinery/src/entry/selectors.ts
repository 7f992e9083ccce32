/**
 * Selectors of labels, fields and shards.
 *
 * @module
 */

export { everyField, type FieldRequirement, FieldSelector, parseFieldSelector } from "../selectors/fields.ts";
export { type LabelOperator, LabelRequirement } from "../selectors/label-requirement.ts";
export {
  everyLabel,
  LabelSelector,
  type LabelSelectorExpression,
  type LabelSelectorObject,
  labelSelectorFromObject,
  parseLabelSelector,
} from "../selectors/labels.ts";
export {
  parseShardSelector,
  type Shardable,
  type ShardField,
  type ShardRange,
  ShardSelector,
} from "../selectors/shards.ts";
