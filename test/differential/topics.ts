// All topics, in the order of the way of an object.
import { CREATE } from "./cases/create.ts";
import type { Topic } from "./step.ts";

export const TOPICS: readonly Topic[] = [CREATE];
