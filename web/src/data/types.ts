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
  views: Record<'profile' | 'timeline' | 'scaling' | 'compare' | 'sql' | 'findings', string>;
  info: [string, InfoValue][];
  diagnostics: Diagnostic[];
}

export interface Session {
  fathom: string;
  folder?: string; // where relative paths begin, when it was asked for
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
  series: number; // of the experiment
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
  expected?: [number, number][]; // powers of each parameter and of its logarithm, when they were given
  models: Model[];
}

export interface Advice {
  mode: string;
  current_cost: number;
  noise: number;
  suggested: { point: number[]; cost: number; repetition: number }[];
}

export interface LocationShare {
  rank: number;
  location: string;
  s: number;
  share?: number;
}

export interface Finding {
  kind: string;
  level: 'note' | 'warning' | 'problem';
  severity: number;
  lost_s: number;
  unit?: string; // of what is lost where it is no time; what is called seconds counts that then
  culprits: LocationShare[];
  culprits_more?: number;
  victims: LocationShare[];
  more?: number;
  where: {
    region?: string;
    regions: { name: string; s: number }[];
    callpaths?: { name: string; s: number }[]; // in which the culprits computed more than the victims
    callpaths_more?: number;
    activity?: string;
    before?: string;
    callpath?: string;
    from_s?: number;
    to_s?: number;
    iterations: number[];
  };
  evidence: Record<string, Wire | Record<string, number>>;
  text: string;
  advice: string;
}

export interface Findings {
  path: string;
  format: string;
  locations: number;
  runtime_s?: number;
  location_time_s?: number;
  // Of a profile without time: what location_time_s and the findings with a unit count.
  metric?: string;
  unit?: string;
  findings: Finding[];
  efficiencies?: Record<string, Wire>;
  critical_path?: { rank: number; location: string; activity: string; s: number; share: number; imbalance_s: number }[];
  wait_states?: Record<
    string,
    { s: number; count: number; share: number; victims: LocationShare[]; culprits: LocationShare[] }
  >;
  delay_costs?: {
    rank: number;
    location: string;
    activity: string;
    short_s: number;
    long_s: number;
    callpaths?: { name: string; short_s: number; long_s: number }[]; // those of the computation that was late
    callpaths_more?: number;
  }[];
  iterations?: {
    count: number;
    median_s: number;
    slow: number[];
    phases: { from_s: number; to_s: number; median_s: number; parallel: number; load_balance: number }[];
  };
  pattern?: { class: string; offsets: number[]; messages: number; mean_bytes: number };
}

export interface Change {
  path: string;
  metric: string;
  before: Wire;
  after: Wire;
  change: Wire;
  relative: Wire;
  significant: boolean | null;
}

export interface Changes {
  match: string;
  flavour?: string;
  metrics: (Omit<Change, 'path' | 'metric'> & { name: string; unit: string })[];
  rows: Change[];
}

export interface ComparedTree {
  metric: string;
  unit: string;
  before_total: number;
  after_total: number;
  node: number[];
  parent: number[];
  children: number[];
  name: string[];
  paradigm: string[];
  role: string[];
  before_inclusive: (number | null)[];
  after_inclusive: (number | null)[];
  before_exclusive: (number | null)[];
  after_exclusive: (number | null)[];
  all: number;
}

export interface SqlTables {
  tables: { name: string; title: string; columns: string[] }[];
}
export interface SqlResult {
  columns: { name: string; type: string; unit: string }[];
  rows: (Wire | boolean)[][];
  more: boolean;
}

export interface Sources {
  metric: string;
  unit: string;
  total: number;
  all: number;
  files: { number: number; name: string; own: number; inclusive: number; lines: number; text: boolean }[];
}
export interface SourceText {
  name: string;
  metric: string;
  unit: string;
  own: number;
  inclusive: number;
  line: number[];
  line_own: number[];
  line_inclusive: number[];
  text: string[] | null;
  cut?: boolean;
}

export interface Topologies {
  topologies: {
    name: string;
    dimensions: { name: string; size: number; periodic: boolean }[];
    cells: { at: number[]; locations: number[] }[];
    all: number;
  }[];
}
