import { guideTests } from "./support/guide.ts";

guideTests("across-spaces", "space-providers", "stores");
