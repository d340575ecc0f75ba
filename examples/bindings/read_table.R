# Rscript read_table.R DATASET: what each region costs, in R, through the C interface of libfathom. fathom_r.so is built from
# fathom_r.c, which says how, and lies beside this file or where FATHOM_R says.
dataset <- commandArgs(trailingOnly = TRUE)[1]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
dyn.load(Sys.getenv("FATHOM_R", file.path(here, "fathom_r.so")))

read_table <- function(path, table) as.data.frame(.Call("fathom_read", path, table), stringsAsFactors = FALSE)

total <- read_table(dataset, "total")
context <- read_table(dataset, "context")
time <- merge(total[total$metric == "time", ], context, by.x = "context", by.y = "id")
seconds <- aggregate(exclusive ~ name, time, sum)
print(seconds[order(-seconds$exclusive), ], row.names = FALSE)
