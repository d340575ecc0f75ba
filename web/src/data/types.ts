// What the server answers (src/serve).

export type InfoValue = null | number | string | string[];

export interface Diagnostic {
  id: string;
  severity: string;
  place: string;
  count: number;
  text: string;
}

export interface Dataset {
  name: string;
  path: string;
  format: string;
  title: string;
  version: string;
  levels: string[];
  views: Record<'profile' | 'timeline' | 'scaling', string>;
  info: [string, InfoValue][];
  diagnostics: Diagnostic[];
}

export interface Session {
  fathom: string;
  datasets: Dataset[];
}

export type Wire = number | string | null;

export interface Metrics {
  name: string[];
  title: string[];
  unit: string[];
  description: string[];
  hidden: boolean[];
  parent: (number | null)[];
  unavailable: string[];
  likely?: string;
}

export interface Locations {
  label: string[];
  name: string[];
  process: string[];
  node: string[];
  rank: (number | null)[];
}

export interface Nodes {
  node: number[];
  parent: number[];
  children: number[];
  name: string[];
  context: (string | null)[];
  paradigm: string[];
  role: string[];
  place: string[];
  metrics: { name: string; unit: string; total: number; inclusive: Wire[]; exclusive: Wire[] }[];
  all: number;
}

export interface Spread {
  metric: string;
  unit: string;
  inclusive: Wire[];
  exclusive: Wire[];
}

export interface Terms {
  constant: number;
  compound: { coefficient: number; factors: { parameter: string; exponent: string; log: string }[] }[];
}

export interface Model {
  callpath: string;
  metric: string;
  unit: string;
  function: string;
  terms?: Terms;
  segments?: { from: number | null; to: number | null; terms: Terms }[];
  growth: string;
  SMAPE: Wire;
  AR2: Wire;
  now: Wire;
  then: Wire;
  share_now: Wire;
  share_then: Wire;
  low: Wire;
  high: Wire;
  mark: '' | 'bug' | 'unsure';
  explanation: string;
  points: number[][];
  mean: Wire[];
  median: Wire[];
  minimum: Wire[];
  maximum: Wire[];
}

export interface Models {
  parameters: string[];
  largest: number[];
  target: number[];
  all: number;
  models: Model[];
}
