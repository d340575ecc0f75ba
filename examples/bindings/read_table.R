# Rscript read_table.R DATASET: what each region costs, in R. Nobody needs a binding: with the package arrow the tables of the
# dataset are written as Parquet (fathom convert DATASET out.parquet) and read in place; without it the answer of a query
# comes as CSV, in which no digit is lost.
dataset <- commandArgs(trailingOnly = TRUE)[1]

with_arrow <- function() {
  folder <- file.path(tempdir(), "tables.parquet")
  if (system2("fathom", c("convert", shQuote(dataset), shQuote(folder), "--quiet")) != 0) quit(status = 2)
  list(total = as.data.frame(arrow::read_parquet(file.path(folder, "total.parquet"))),
       context = as.data.frame(arrow::read_parquet(file.path(folder, "context.parquet"))))
}

ask <- function(query) {
  answer <- pipe(paste("fathom sql", shQuote(dataset), shQuote(query), "--csv"))
  tryCatch(read.csv(answer), error = function(problem) quit(status = 2))
}

tables <- if (requireNamespace("arrow", quietly = TRUE)) with_arrow() else
  list(total = ask("SELECT * FROM total"), context = ask("SELECT id, name FROM context"))
time <- merge(tables$total[tables$total$metric == "time", ], tables$context, by.x = "context", by.y = "id")
seconds <- aggregate(exclusive ~ name, time, sum)
print(seconds[order(-seconds$exclusive), ], row.names = FALSE)
